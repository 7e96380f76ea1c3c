"""How a head is told where its frames stand: pairs of numbers, turned by position.

Knows: angles. Does not know: which heads are turned.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Rotary(nn.Module):
    """Turns by position; the official code turns the first head alone."""

    inv_freq: Tensor

    def __init__(self, head_dim: int) -> None:
        super().__init__()
        exponents = torch.arange(0, head_dim, 2) / head_dim
        self.register_buffer("inv_freq", 10000.0**-exponents)

    def forward(self, positions: Tensor) -> Tensor:
        """``(...)`` to cosines and sines, (2, ..., head_dim / 2), float32."""
        angles = positions.float()[..., None] * self.inv_freq.float()
        return torch.stack([angles.cos(), angles.sin()])


def turned(heads: Tensor, turn: Tensor) -> Tensor:
    """Neighbouring pairs of the last axis turned by what :class:`Rotary` gave."""
    first, second = heads.float().view(*heads.shape[:-1], -1, 2).unbind(-1)
    cos, sin = turn
    pairs = torch.stack([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return pairs.flatten(-2).to(heads.dtype)
