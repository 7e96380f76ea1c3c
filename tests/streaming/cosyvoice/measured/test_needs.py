"""What simulated cards are estimated from is what our networks do, at the published sizes."""

from functools import partial

import pytest
import tiny_steps
import torch
from plain_kernels import in_place
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.capacity import device
from streaming.cosyvoice import vocoder
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.llm import body
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


class Launches(TorchDispatchMode):
    """Counts what would be a kernel of its own: all that makes numbers."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        del types
        if not (func.is_view or "empty" in func.name() or "_unsafe_view" in func.name()):
            self.count += 1
        return func(*args, **(kwargs or {}))


class KernelsOnly:
    """Each is one launch, of which torch sees nothing."""

    def __init__(self):
        self.count = 0

    def attend(self, query, *_):
        self.count += 1
        return query.new_empty(query.transpose(2, 3).shape)

    def keep(self, *_):
        self.count += 1


def launches(step, kernels=None):
    with torch.no_grad(), Launches() as launched:
        step()
    return launched.count + (kernels.count if kernels else 0)


def test_the_flow_s_launches(monkeypatch):
    whole = DitSizes(dim=64, heads=4, head_dim=16, lookahead_channels=32)  # as deep as it is
    monkeypatch.setitem(tiny_steps.FLOWS, "cosyvoice3", whole)
    kernels = KernelsOnly()
    way = partial(in_place.func, kernels=kernels)
    step = tiny_steps.euler_step("cosyvoice3", torch.bfloat16, way)
    kernels.count = 0
    assert launches(step, kernels) == pytest.approx(device.FLOW_LAUNCHES, rel=0.03)


def test_the_vocoder_s_launches():
    step = tiny_steps.vocoder_step("cosyvoice3", torch.bfloat16)
    assert launches(step) == pytest.approx(device.VOCODER_LAUNCHES, rel=0.03)


def test_the_language_model_s_launches(monkeypatch):
    def one_launch(x, shape, weight, eps):
        """As on CUDA."""
        return torch.nn.functional.layer_norm(x, shape, weight, eps=eps)

    monkeypatch.setattr(body, "rms_norm", one_launch)
    monkeypatch.setattr(
        tiny_steps,
        "LlmSizes",
        lambda generation, **small: LlmSizes(generation, **small | {"layers": LlmSizes.layers}),
    )
    kernels = KernelsOnly()
    step = tiny_steps.llm_step("cosyvoice3", torch.bfloat16, dense=False, kernels=kernels)
    assert launches(step, kernels) == pytest.approx(device.LLM_LAUNCHES, rel=0.03)
