"""Tiny networks, and one step of each over tensors that have no numbers (``capturing``)."""

from __future__ import annotations

from functools import partial

import torch
from capturing import ELSEWHERE

from streaming.cosyvoice.flow.attention import Gathered
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.batch import Shapes, batched
from streaming.cosyvoice.flow.build import module, network
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.llm.cache import KvCache
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.packing import StepShape, idle_table
from streaming.cosyvoice.llm.sampler import RepetitionAware, Sampling
from streaming.cosyvoice.llm.step import Stepper
from streaming.cosyvoice.sizes import DitSizes, LlmSizes, UnetSizes, VocoderSizes
from streaming.cosyvoice.vocoder import VocoderV2, VocoderV3

FLOWS = {
    "cosyvoice3": DitSizes(dim=32, depth=2, heads=2, head_dim=16, lookahead_channels=24),
    "cosyvoice2": UnetSizes(
        encoder_dim=32,
        encoder_heads=2,
        encoder_feed_forward=48,
        encoder_blocks=1,
        channels=32,
        blocks=1,
        middle_blocks=2,
        heads=2,
        head_dim=16,
    ),
}
VOCODERS = {"cosyvoice3": VocoderV3, "cosyvoice2": VocoderV2}
GENERATIONS = list(FLOWS)


def flow_module(generation):
    torch.manual_seed(5)
    return module(FLOWS[generation]).eval()


def vocoder(generation):
    torch.manual_seed(5)
    made = VOCODERS[generation](VocoderSizes(base_channels=16, f0_channels=8))
    made.f0_predictor.classifier.bias.data.fill_(150.0)
    return made


def euler_step(generation, dtype, way=Gathered):
    """Six blocks of two voices: what to call, for (6, 50, 80)."""
    made = network(flow_module(generation), ELSEWHERE, dtype, way=way)
    flow = Flow(made, budget_bytes=1 << 26)
    voice = flow.prepare(FlowPrompt((1,) * 60, torch.zeros(120, 80), torch.ones(192)))
    rows = batched([voice.run, voice.run], Shapes((6,), (4,)), ELSEWHERE)
    return partial(flow._advanced, rows)


def vocoder_step(generation, dtype):
    """Three rows of 40 frames: what to call, for samples, carried and exact."""
    nowhere = vocoder(generation).fuse(dtype).to(ELSEWHERE)
    return partial(nowhere.forward, *nowhere._laid_out((), (), 3, 40))


def llm_step(generation, dtype, *, dense=True, kernels=None):
    """Four single tokens: what to call, for four choices."""
    sizes = LlmSizes(generation, hidden=32, feed_forward=64, layers=2, heads=4, kv_heads=2)
    with ELSEWHERE:
        model = SpeechLlm(sizes).to(dtype)
    model.keep_in_float32()
    cache = KvCache(sizes, 8, 64, model.device, model.dtype)
    stepper = Stepper(model, cache, RepetitionAware(model.ids, Sampling()), kernels)
    shape = StepShape(tokens=4, rows=4, length=64, dense=dense, draws=4)
    return partial(stepper.run, idle_table(shape, cache).to(ELSEWHERE), shape)
