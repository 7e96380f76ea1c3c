"""Vocoders of a few channels with weights that never change, and streams that are cut as asked."""

from __future__ import annotations

import torch

from streaming.cosyvoice.sizes import VocoderSizes
from streaming.cosyvoice.vocoder.stepping import StreamingVocoder

SIZES = VocoderSizes(base_channels=16, f0_channels=16)


def filled(kind, dtype=torch.float32):
    vocoder = kind(SIZES)
    numbers = torch.Generator().manual_seed(11)
    for name, value in vocoder.state_dict().items():
        drawn = torch.randn(value.shape, generator=numbers)
        if name.endswith(("original0", "alpha")):
            value.copy_(0.8 + 0.1 * drawn)
        else:
            value.copy_(drawn / max(1, value[0].numel()) ** 0.5 if value.dim() > 1 else 0.1 * drawn)
    vocoder.f0_predictor.classifier.weight.data.mul_(60.0)
    vocoder.f0_predictor.classifier.bias.data.fill_(150.0)
    return vocoder.fuse(dtype)


def speech(frames: int, seed: int = 3) -> torch.Tensor:
    """Mel frames (frames, 80) that vary as fast as speech: noise, smoothed over time."""
    noise = torch.randn(frames + 4, 80, generator=torch.Generator().manual_seed(seed))
    return torch.stack([noise[lag : lag + frames] for lag in range(5)]).sum(0)


def streamed(vocoder: StreamingVocoder, mel: torch.Tensor, hops, **begun) -> list[torch.Tensor]:
    """The chunks of one stream, cut after each hop; what is left comes with the last one."""
    state, chunks, at = vocoder.begin(**begun), [], 0
    hops = list(hops)
    for index, hop in enumerate(hops):
        last = index == len(hops) - 1
        new = mel[at:] if last else mel[at : at + hop]
        chunk, state = vocoder.step([(state, new, last)])[0]
        chunks.append(chunk)
        at += hop
    return chunks


def loudness(samples: torch.Tensor) -> float:
    return float(samples.square().mean().sqrt())
