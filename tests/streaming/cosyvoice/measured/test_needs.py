"""What simulated cards are estimated from is what our networks do, at the published sizes."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.capacity import device
from streaming.cosyvoice import vocoder
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.llm.body import Qwen2Body
from streaming.cosyvoice.sizes import (
    EULER_STEPS,
    FRAMES_PER_TOKEN,
    DitSizes,
    LlmSizes,
    VocoderSizes,
)

PROMPT = FlowPrompt((1,) * 5, torch.zeros(10, 80), torch.ones(192))


def counted(compute):
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        compute()
    return counter.get_total_flops()


def flow_gflop(depth):
    """Of a frame and Euler step, beside what a pass costs whatever its length."""
    flow = FlowV3(DitSizes(depth=depth)).eval()
    short, long = (
        counted(lambda tokens=tokens: flow.one_pass(PROMPT, [1] * tokens, streaming=True))
        for tokens in (5, 15)
    )
    return (long - short) / (10 * FRAMES_PER_TOKEN * EULER_STEPS) / 1e9


def test_the_flow_s_products():
    one, two = flow_gflop(1), flow_gflop(2)  # all layers are alike
    assert one + (DitSizes().depth - 1) * (two - one) == pytest.approx(
        device.FLOW_GFLOP_PER_FRAME, rel=0.03
    )


def test_the_vocoder_s_products():
    sound = vocoder.of("cosyvoice3", VocoderSizes()).eval().fuse()
    short, long = (
        counted(lambda frames=frames: sound.step([(sound.begin(), torch.zeros(frames, 80), True)]))
        for frames in (10, 20)
    )
    assert (long - short) / 10 / 1e9 == pytest.approx(device.VOCODER_GFLOP_PER_FRAME, rel=0.03)


def test_the_language_model_s_weights_and_products():
    with torch.device("meta"):
        body = Qwen2Body(LlmSizes("cosyvoice3"))
    weights = sum(weight.numel() for name, weight in body.named_parameters() if "embed" not in name)
    assert 2 * weights / 1e9 == pytest.approx(device.LLM_GB, rel=0.03)  # bf16
    assert 2 * weights / 1e9 == pytest.approx(device.LLM_GFLOP_PER_TOKEN, rel=0.03)
