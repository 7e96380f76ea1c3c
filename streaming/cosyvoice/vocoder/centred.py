"""Convolutions that see both sides, over rows of different lengths: beyond a row's end is silence.

Knows: where rows end, at every resolution. Does not know: networks.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d

from streaming.cosyvoice.vocoder.layers import Activation


class Centred:
    """A pass in which nothing is carried; zeros stand beside the rows."""

    def __init__(self, counts: Tensor | None, frames: int) -> None:
        """``counts`` (B,): frames of each row; None where all have as many as the batch is wide."""
        self._counts = counts
        self._frames = frames
        self._beyond: dict[int, Tensor] = {}

    def masked(self, x: Tensor, rate: int) -> Tensor:
        """Silences what lies beyond the rows in ``x`` (B, channels, steps).

        Steps that ``x`` has beyond ``rate`` a frame are every row's.
        """
        if self._counts is None:
            return x
        steps = x.shape[2]
        if steps not in self._beyond:
            ends = self._counts[:, None, None] * rate + (steps - self._frames * rate)
            self._beyond[steps] = torch.arange(steps, device=x.device) >= ends
        return x.masked_fill(self._beyond[steps], 0.0)

    def convolve(
        self,
        conv: nn.Module,
        x: Tensor,
        rate: int,
        activation: Activation | None = None,
    ) -> Tensor:
        """``conv`` over ``activation(x)``, as long as ``x``."""
        assert isinstance(conv, nn.Conv1d)
        dilation = conv.dilation[0]
        padding = (conv.kernel_size[0] - 1) * dilation // 2
        inner = self.masked(x if activation is None else activation(x), rate)
        return conv1d(inner, conv.weight, conv.bias, padding=padding, dilation=dilation)
