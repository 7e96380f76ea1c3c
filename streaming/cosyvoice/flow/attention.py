"""Attention of a block's frames to all frames it may see, whose keys and values lie in pages.

Three ways to the same result. ``Views`` reads pages where they lie, row by row, as one piece where
they lie beside each other: for CPUs. ``InPlace`` has a kernel that finds them. ``Gathered`` copies
the pages that a batch sees next to each other first: for devices without that kernel. The last two
take a batch at once, as a fixed number of kernels, of shapes that only B and T decide, and ask the
device nothing, so they can be captured. Knows: the shelf's layout. Does not know: layers, weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.bias import aligned
from streaming.cosyvoice.flow.base import GUIDANCE_ROWS, Rows
from streaming.cosyvoice.flow.rotary import turned
from streaming.cosyvoice.sizes import BLOCK_FRAMES
from streaming.cosyvoice.tiles import Kernels, Tiles

KEY, VALUE = 0, 1

COPY_BYTES = 1 << 30
"""The most that a gathering of one layer copies at once; a larger batch takes several turns."""

Attention = Callable[[Tensor, Tensor, Tensor | None], Tensor]
"""``attention(shelf, qkv, turn)``: keeps keys and values in the rows' pages, then attends.

``shelf`` is one layer's, (2, steps, G, pages, 50, head_dim), where G counts the heads of both
guidance rows; ``qkv`` is (B, 2, 50, 3, heads, head_dim), as a product made it, and may be written
into. Where ``turn`` is given, (2, B, 50, head_dim / 2), it turns the first head of each guidance
row, query and key. The result is (B, 2, 50, heads, head_dim).
"""

Way = Callable[[Rows, Tensor], Attention]
"""One of the three, for a batch; the tensor is any layer's shelf, whose sizes are all it tells."""


class Views:
    """Row by row, over the runs of neighbouring pages that each row sees."""

    def __init__(self, rows: Rows, shelf: Tensor) -> None:  # noqa: ARG002 - as any way
        self._rows = [(row.step, row.page, spans(row.table, row.keys)) for row in rows.host]

    def __call__(self, shelf: Tensor, qkv: Tensor, turn: Tensor | None = None) -> Tensor:
        """As :data:`Attention` says."""
        parts = by_head(qkv, turn)
        for at, (step, page, _) in enumerate(self._rows):
            shelf[:, step, :, page] = parts[1:, at]
        seen = [
            over([_span(shelf[:, step], span) for span in seen_spans], parts[0, at])
            for at, (step, _, seen_spans) in enumerate(self._rows)
        ]
        return _by_frame(torch.stack(seen))


def spans(table: Sequence[int], keys: int) -> list[tuple[int, int]]:
    """First frame and number of frames of each run of neighbouring pages, ``keys`` in all."""
    found: list[tuple[int, int]] = []
    left = keys
    for page in table:
        frames = min(BLOCK_FRAMES, left)
        start = page * BLOCK_FRAMES
        if found and sum(found[-1]) == start:
            found[-1] = (found[-1][0], found[-1][1] + frames)
        else:
            found.append((start, frames))
        left -= frames
    return found


def _span(shelf: Tensor, span: tuple[int, int]) -> Tensor:
    """``(2, G, frames, head_dim)`` where it lies."""
    return shelf.flatten(2, 3).narrow(2, *span)


def over(runs: Sequence[Tensor], query: Tensor) -> Tensor:
    """One row's attention over all its runs: (G, 50, head_dim)."""
    # Weighing each run by itself and adding up copies nothing, and takes as long.
    key, value = (runs[0] if len(runs) == 1 else torch.cat(list(runs), dim=2))[:, None]
    return F.scaled_dot_product_attention(query[None], key, value)[0]


class Gathered:
    """The whole batch at once, over copies that are filled up to the longest row's."""

    def __init__(self, rows: Rows, shelf: Tensor) -> None:
        pages = shelf.shape[3]
        kind = torch.arange(2, device=shelf.device)[:, None, None] * shelf[0, ..., 0, 0].numel()
        head = torch.arange(shelf.shape[2], device=shelf.device) * pages
        place = kind + _first_page(rows, shelf)[:, None] + head  # (2, B, G)
        self._write = (place + rows.page[:, None]).flatten()
        self._read = place[..., None] + rows.table[:, None]  # (2, B, G, T)
        frames = rows.table.shape[1] * BLOCK_FRAMES
        seen = torch.arange(aligned(frames), device=shelf.device)
        hidden = seen >= rows.keys[:, None]
        bias = torch.zeros_like(hidden, dtype=shelf.dtype).masked_fill(hidden, -torch.inf)
        self._bias = bias[:, None, None, :frames]

    def __call__(self, shelf: Tensor, qkv: Tensor, turn: Tensor | None = None) -> Tensor:
        """As :data:`Attention` says."""
        parts = by_head(qkv, turn)
        flat = shelf.view(-1, BLOCK_FRAMES * parts.shape[-1])
        flat.index_copy_(0, self._write, parts[1:].reshape(-1, flat.shape[1]))
        batch, row_bytes = parts.shape[1], self._read[:, 0].numel() * flat[:1].nbytes
        turns = max(1, COPY_BYTES // row_bytes)
        pieces = [slice(first, first + turns) for first in range(0, batch, turns)]
        seen = [self._attended(flat, parts[0], at) for at in pieces]
        return _by_frame(seen[0] if len(seen) == 1 else torch.cat(seen))

    def _attended(self, flat: Tensor, query: Tensor, at: slice) -> Tensor:
        query, read = query[at], self._read[:, at]
        gathered = flat.index_select(0, read.flatten())
        key, value = gathered.view(2, *query.shape[:2], -1, query.shape[-1])
        return F.scaled_dot_product_attention(query, key, value, self._bias[at])


class InPlace:
    """The whole batch at once, by kernels that find what each row sees."""

    def __init__(self, rows: Rows, shelf: Tensor, kernels: Kernels) -> None:
        page = shelf[0, 0, 0, 0].numel()
        first = _first_page(rows, shelf)
        self._kernels = kernels
        self._write = (first + rows.page) * page
        self._tiles = Tiles(
            begins=(first[:, None] + rows.table) * page,
            lengths=rows.keys,
            keys=BLOCK_FRAMES,
            head_stride=shelf.shape[3] * page,
            key_stride=shelf.shape[5],
        )

    def __call__(self, shelf: Tensor, qkv: Tensor, turn: Tensor | None = None) -> Tensor:
        """As :data:`Attention` says."""
        self._kernels.keep(qkv, turn, shelf, self._write)
        query = qkv[:, :, :, 0].transpose(2, 3)
        return self._kernels.attend(query, shelf[KEY], shelf[VALUE], self._tiles)


def usual_way(device: torch.device) -> Way:
    """Where nobody brings kernels."""
    return Views if device.type == "cpu" else Gathered


def _first_page(rows: Rows, shelf: Tensor) -> Tensor:
    """(B,): in pages, where those of a row's Euler step begin, of the first head's keys."""
    _, _, heads, pages, _, _ = shelf.shape
    return rows.step * (heads * pages)


def by_head(qkv: Tensor, turn: Tensor | None) -> Tensor:
    """``qkv`` and ``turn`` as :data:`Attention` has them: (3, B, G, 50, head_dim), turned."""
    if turn is not None:
        first = qkv[..., :2, 0, :]
        qkv[..., :2, 0, :] = turned(first, turn[:, :, None, :, None])
    return qkv.permute(3, 0, 1, 4, 2, 5).flatten(2, 3)


def _by_frame(seen: Tensor) -> Tensor:
    """``(B, G, 50, head_dim)`` as what is returned."""
    batch, heads, *block = seen.shape
    return seen.reshape(batch, GUIDANCE_ROWS, heads // GUIDANCE_ROWS, *block).transpose(2, 3)
