"""What a causal network remembers from step to step, one flat row a stream.

Every convolution reads its left context from the row and leaves the next one in a new row, in the
order in which the network asks, so the layout is whatever one pass reads. Rows are left-aligned:
each has its own count of frames, and what lies to the right of them is never looked at again.
Knows: contexts and where a row ends. Does not know: networks.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d

from streaming.cosyvoice.vocoder.layers import Activation


@dataclass(frozen=True)
class Slot:
    """One context: what it was before this step, and where the next one goes."""

    before: Tensor
    """(B, channels, width)"""
    _after: Tensor | None
    _counts: Tensor | int

    def keep(self, joined: Tensor, rate: int) -> None:
        """Keep what comes before step ``rate * frames`` of each row; ``joined`` has the context.

        ``joined`` is (B, channels, width + at least rate * frames).
        """
        if self._after is None:
            return
        width = self.before.shape[2]
        if isinstance(self._counts, int):
            self._after.copy_(joined[:, :, rate * self._counts :][:, :, :width])
            return
        places = rate * self._counts[:, None, None] + torch.arange(width, device=joined.device)
        self._after.copy_(joined.gather(2, places.expand(-1, joined.shape[1], -1)))


class Carried:
    """Reads contexts from ``rows`` (B, size) and writes those that follow to ``after``."""

    def __init__(self, rows: Tensor | None, counts: Tensor | int) -> None:
        """Without ``rows`` all contexts are silence and ``size`` says what a row would hold.

        ``counts``: frames of each row (B,), or one number where all have as many.
        """
        self.size = 0
        self._rows = rows
        self._counts = counts
        self.after = None if rows is None else torch.empty_like(rows)

    def slot(self, like: Tensor, channels: int, width: int) -> Slot:
        """The next context; ``like`` says batch, device and dtype where there are no rows."""
        start, self.size = self.size, self.size + channels * width
        if self._rows is None or self.after is None:
            return Slot(like.new_zeros(like.shape[0], channels, width), None, self._counts)
        before, after = (
            flat[:, start : self.size].view(-1, channels, width)
            for flat in (self._rows, self.after)
        )
        return Slot(before, after, self._counts)

    def joined(self, x: Tensor, width: int, rate: int) -> Tensor:
        """The context and ``x`` (B, channels, rate * frames) in one."""
        slot = self.slot(x, x.shape[1], width)
        joined = torch.cat([slot.before, x], 2)
        slot.keep(joined, rate)
        return joined

    def convolve(
        self,
        conv: nn.Module,
        x: Tensor,
        rate: int,
        activation: Activation | None = None,
    ) -> Tensor:
        """``conv`` over ``activation(x)`` and what came before it, as long as ``x``."""
        assert isinstance(conv, nn.Conv1d)
        dilation = conv.dilation[0]
        inner = x if activation is None else activation(x)
        joined = self.joined(inner, (conv.kernel_size[0] - 1) * dilation, rate)
        return conv1d(joined, conv.weight, conv.bias, dilation=dilation)
