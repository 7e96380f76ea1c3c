"""The equation: where it starts, its ten steps, and how guidance weighs two slopes.

Source: the official flow matching (Euler, cosine schedule, classifier-free guidance of 0.7).
Knows: numbers. Does not know: what makes a slope, or who shares a batch.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from streaming.cosyvoice.sizes import EULER_STEPS, GUIDANCE, MEL_BANDS

NOISE_FRAMES = 15_000
"""Drawn at once: the generator's result depends on how many are drawn."""


@functools.cache
def starting_noise() -> Tensor:
    """(15000, 80) float32, on the CPU: the same for every context, by a frame's position."""
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn([1, MEL_BANDS, NOISE_FRAMES], generator=generator)
    return drawn[0].T.contiguous()


def noise_at(first: int, frames: int) -> Tensor:
    """``(frames, 80)`` of the starting noise from frame ``first``; after 300 s it begins anew."""
    positions = torch.arange(first, first + frames) % NOISE_FRAMES
    return starting_noise()[positions]


@functools.cache
def schedule() -> tuple[Tensor, Tensor]:
    """Times and lengths of the Euler steps, (10,) float32 each: 1 - cos(pi/2 * k/10)."""
    span = 1 - torch.cos(torch.linspace(0, 1, EULER_STEPS + 1) * 0.5 * torch.pi)
    times, lengths = [span[0]], [span[1] - span[0]]
    for end in span[2:]:
        # A time is where the step before it ended in float32, not the schedule's own value.
        times.append(times[-1] + lengths[-1])
        lengths.append(end - times[-1])
    return torch.stack(times), torch.stack(lengths)


def guided(velocity: Tensor) -> Tensor:
    """``(B, 2, ...)`` to ``(B, ...)``: away from what nothing conditions."""
    conditioned, free = velocity.unbind(1)
    return (1 + GUIDANCE) * conditioned - GUIDANCE * free
