"""Runs of many contexts as one batch of rows.

Each block is a row: contexts of any length, at any Euler step, of any voice, lie one after the
other, and nothing is filled up but the last block of one that ends. ``Shapes`` fills a batch up to
one of few shapes, for steps that are compiled or captured for each. Knows: plain numbers to
tensors, in one transfer. Does not know: networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.flow.base import SCRAP_PAGE, ZERO_PAGE, HostRow, Rows
from streaming.cosyvoice.flow.values import Run
from streaming.cosyvoice.sizes import BLOCK_FRAMES
from streaming.cosyvoice.transfer import integers


@dataclass(frozen=True)
class Shapes:
    """The shapes a batch may have: numbers of rows, and of pages that a row sees; ascending.

    What exceeds the largest is filled up to a multiple of a quarter of it: such steps are not worth
    captures, but each shape that a GPU meets for the first time is planned for.
    """

    rows: tuple[int, ...] = ()
    pages: tuple[int, ...] = ()

    def of(self, rows: int, pages: int) -> tuple[int, int]:
        """The least allowed shape that holds so many."""
        return _least(self.rows, rows), _least(self.pages, pages)


def _least(allowed: Sequence[int], wanted: int) -> int:
    for size in allowed:
        if size >= wanted:
            return size
    step = max(1, allowed[-1] // 4) if allowed else 1
    return -(-wanted // step) * step


FILLING = HostRow(
    step=0,
    page=SCRAP_PAGE,
    before=ZERO_PAGE,
    table=(SCRAP_PAGE,),
    keys=BLOCK_FRAMES,
    position=0,
    frames=BLOCK_FRAMES,
)


def batched(runs: Sequence[Run], shapes: Shapes, device: torch.device) -> Rows:
    """One Euler step of ``runs``, rows of the first before those of the second."""
    host = [replace(row, step=run.step) for run in runs for row in run.rows]
    most = max(len(row.table) for row in host)
    rows, pages = shapes.of(len(host), most)
    filling = rows - len(host)
    host += [FILLING] * filling
    numbers = integers([_numbers(row, pages) for row in host], device)
    step, page, before, keys, position = numbers[:, :5].unbind(1)
    return Rows(
        x=_filled([run.x for run in runs], filling),
        given=_filled([run.given for run in runs], filling),
        step=step,
        page=page,
        before=before,
        table=numbers[:, 5:],
        keys=keys,
        position=position,
        host=host,
    )


def _numbers(row: HostRow, pages: int) -> list[int]:
    filling = [ZERO_PAGE] * (pages - len(row.table))
    return [row.step, row.page, row.before, row.keys, row.position, *row.table, *filling]


def _filled(parts: Sequence[Tensor], filling: int) -> Tensor:
    together = torch.cat(list(parts))
    if filling == 0:
        return together
    return F.pad(together, [0, 0] * (together.dim() - 1) + [0, filling])
