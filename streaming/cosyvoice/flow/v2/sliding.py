"""A convolution over time whose input brings its own context: no padding inside.

Knows: one layer. Does not know: where the context comes from, zeros or kept frames.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom


class SlidingConv(nn.Module):
    """``taps`` frames make one, as a product of matrices, channels last.

    The parameters are those of ``nn.Conv1d``. ``offset`` is where the U-Net keeps this layer's
    context; other networks leave it at 0.
    """

    def __init__(self, channels: int, out: int, taps: int) -> None:
        super().__init__()
        self.channels = channels
        self.taps = taps
        self.offset = 0
        # In memory the order is (out, taps, channels), so that forward need not copy it.
        self.weight = nn.Parameter(torch.empty(out, taps, channels).transpose(1, 2))
        self.bias = nn.Parameter(torch.zeros(out))
        nn.init.kaiming_uniform_(self.weight, a=5**0.5)

    def forward(self, x: Tensor) -> Tensor:
        """(R, taps - 1 + T, channels) to (R, T, out)."""
        frames = x.shape[1] - self.taps + 1
        if self.taps > 1:
            x = torch.cat([x[:, tap : tap + frames] for tap in range(self.taps)], dim=-1)
        return F.linear(x, self.weight.transpose(1, 2).flatten(1), self.bias)


def product(layer: nn.Linear | SlidingConv, x: Tensor) -> Tensor:
    """``layer`` of ``x`` in the precision of its weights, whatever that of ``x`` is."""
    return cast("Tensor", layer(x.to(layer.weight.dtype)))
