"""Tiny random models: two layers, and a vocabulary that has the real signs."""

from __future__ import annotations

from collections.abc import Callable

import torch

from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.sizes import Generation, LlmSizes

TinyLlm = Callable[[Generation], SpeechLlm]


def random_llm(generation: Generation) -> SpeechLlm:
    """Always the same weights."""
    sizes = LlmSizes(generation, hidden=32, feed_forward=64, layers=2, heads=4, kv_heads=2)
    generator = torch.Generator().manual_seed(3)
    with torch.device("meta"):
        model = SpeechLlm(sizes)
    model.to_empty(device="cpu")
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("norm.weight"):
                weight.fill_(1.0)
            else:
                weight.normal_(std=0.3, generator=generator)
    return model.eval()
