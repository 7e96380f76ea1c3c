"""Attention of a block's frames to all frames it may see, whose keys and values lie in pages.

Two ways to the same result. ``Views`` reads pages where they lie, row by row, as one piece where
they lie beside each other: for CPUs. ``Gathered`` copies the pages that a batch sees next to each
other and takes the batch at once: a fixed number of kernels, of shapes that only B and T decide,
and no question to the device, so it can be captured. Knows: the shelf's layout. Does not know:
layers, weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.bias import aligned
from streaming.cosyvoice.flow.base import Rows
from streaming.cosyvoice.sizes import BLOCK_FRAMES

KEY, VALUE = 0, 1

COPY_BYTES = 1 << 30
"""The most that a gathering of one layer copies at once; a larger batch takes several turns."""

Attention = Callable[[Tensor, Tensor], Tensor]
"""``attention(shelf, qkv)``: keeps keys and values in the rows' pages, then attends.

``shelf`` is one layer's, (2, steps, G, pages, 50, head_dim), where G counts the heads of both
guidance rows; ``qkv`` is (3, B, G, 50, head_dim), the result (B, G, 50, head_dim).
"""


class Views:
    """Row by row, over the runs of neighbouring pages that each row sees."""

    def __init__(self, rows: Rows) -> None:
        self._rows = [(row.step, row.page, spans(row.table, row.keys)) for row in rows.host]

    def __call__(self, shelf: Tensor, qkv: Tensor) -> Tensor:
        """As :data:`Attention` says."""
        for at, (step, page, _) in enumerate(self._rows):
            shelf[:, step, :, page] = qkv[1:, at]
        seen = [
            over([_span(shelf[:, step], span) for span in seen_spans], qkv[0, at])
            for at, (step, _, seen_spans) in enumerate(self._rows)
        ]
        return torch.stack(seen)


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
        """``shelf`` is any layer's: its sizes are all that matters here."""
        _, steps, heads, pages, _, _ = shelf.shape
        device = shelf.device
        kind = torch.arange(2, device=device)[:, None, None] * steps
        head = torch.arange(heads, device=device)
        place = ((kind + rows.step[:, None]) * heads + head) * pages  # (2, B, G)
        self._write = (place + rows.page[:, None]).flatten()
        self._read = place[..., None] + rows.table[:, None]  # (2, B, G, T)
        frames = rows.table.shape[1] * BLOCK_FRAMES
        seen = torch.arange(aligned(frames), device=device)
        hidden = seen >= rows.keys[:, None]
        bias = torch.zeros_like(hidden, dtype=shelf.dtype).masked_fill(hidden, -torch.inf)
        self._bias = bias[:, None, None, :frames]

    def __call__(self, shelf: Tensor, qkv: Tensor) -> Tensor:
        """As :data:`Attention` says."""
        flat = shelf.view(-1, BLOCK_FRAMES * qkv.shape[-1])
        flat.index_copy_(0, self._write, qkv[1:].reshape(-1, flat.shape[1]))
        batch, row_bytes = qkv.shape[1], self._read[:, 0].numel() * flat[:1].nbytes
        turn = max(1, COPY_BYTES // row_bytes)
        turns = [slice(first, first + turn) for first in range(0, batch, turn)]
        parts = [self._attended(flat, qkv[0], at) for at in turns]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _attended(self, flat: Tensor, query: Tensor, at: slice) -> Tensor:
        query, read = query[at], self._read[:, at]
        gathered = flat.index_select(0, read.flatten())
        key, value = gathered.view(2, *query.shape[:2], -1, query.shape[-1])
        return F.scaled_dot_product_attention(query, key, value, self._bias[at])
