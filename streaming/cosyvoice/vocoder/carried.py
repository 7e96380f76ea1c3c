"""What a causal network remembers from step to step, one flat row a stream.

Every convolution reads its left context from the row and leaves the next one in a new row, in the
order in which the network asks, so the layout is whatever one pass reads. Rows are left-aligned:
each has its own count of frames, and what lies to the right of them is never looked at again.
Knows: contexts and where a row ends. Does not know: networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d

if TYPE_CHECKING:
    from streaming.cosyvoice.vocoder.layers import Activation


@dataclass(frozen=True)
class Slot:
    """One context, as it was before this step."""

    before: Tensor
    """(B, channels, width)"""
    _run: Carried

    def keep(self, joined: Tensor, rate: int) -> None:
        """Keep what comes before step ``rate * frames`` of each row; ``joined`` has the context.

        ``joined`` is (B, channels, width + at least rate * frames). To be called once for each
        context, in the order in which they were asked for.
        """
        self._run.keep(joined, rate, self.before.shape[2])


class Carried:
    """Reads contexts from ``rows`` (B, size) and gathers those that follow."""

    def __init__(self, rows: Tensor | None, counts: Tensor | int) -> None:
        """Without ``rows`` all contexts are silence and ``size`` says what a row would hold.

        ``counts``: frames of each row (B,), or one number where all have as many.
        """
        self.size = 0
        self._rows = rows
        self._counts = counts
        self._kept: list[Tensor] = []
        self._places: dict[tuple[int, int], Tensor] = {}

    @property
    def after(self) -> Tensor:
        """The rows for the next step, (B, size), once all contexts are kept."""
        assert self._rows is not None
        assert sum(kept.shape[1] for kept in self._kept) == self._rows.shape[1]
        return torch.cat(self._kept, 1)

    def slot(self, like: Tensor, channels: int, width: int) -> Slot:
        """The next context; ``like`` says batch, device and dtype where there are no rows."""
        start, self.size = self.size, self.size + channels * width
        if self._rows is None:
            return Slot(like.new_zeros(like.shape[0], channels, width), self)
        return Slot(self._rows[:, start : self.size].view(-1, channels, width), self)

    def keep(self, joined: Tensor, rate: int, width: int) -> None:
        """See :meth:`Slot.keep`."""
        if self._rows is None:
            return
        if isinstance(self._counts, int):
            kept = joined[:, :, rate * self._counts :][:, :, :width]
        else:
            places = self._places_after(self._counts, rate, width)
            kept = joined.gather(2, places.expand(-1, joined.shape[1], -1))
        self._kept.append(kept.flatten(1).to(self._rows.dtype))

    def _places_after(self, counts: Tensor, rate: int, width: int) -> Tensor:
        """(B, 1, width); many contexts ask for the same."""
        if (rate, width) not in self._places:
            steps = torch.arange(width, device=counts.device)
            self._places[rate, width] = rate * counts[:, None, None] + steps
        return self._places[rate, width]

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
