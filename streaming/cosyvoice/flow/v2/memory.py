"""Between version 2's networks and the pages: what was kept is read, what will be needed is kept.

Knows: which shelf holds what. Does not know: weights, the equation, who holds a page.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from streaming.cosyvoice.flow.attention import Attention
from streaming.cosyvoice.flow.base import GUIDANCE_ROWS, Piece, Rows
from streaming.cosyvoice.flow.v2.relative import Span
from streaming.cosyvoice.flow.v2.unet import CONTEXT_FRAMES
from streaming.cosyvoice.transfer import integers, moved


class Pages:
    """The U-Net's past: rows of a batch, each with its Euler step's part of its own pages."""

    def __init__(self, rows: Rows, attention: Attention, kv: Tensor, near: Tensor) -> None:
        """``kv`` is (layers, 2, steps, G, pages, 50, head_dim): G counts both rows' heads.

        ``near`` is (steps, 2, pages, 2, channels of all convolutions): their contexts.
        """
        self._rows = rows
        self._attention = attention
        self._kv = kv
        self._near = near

    def extend(self, offset: int, x: Tensor) -> Tensor:
        """(2 * B, 50, C) to (2 * B, 52, C)."""
        rows, kept = self._rows, self._near[..., offset : offset + x.shape[-1]]
        # All write before any reads: the block before a row may be a row of this batch.
        kept[rows.step, :, rows.page] = x[:, -CONTEXT_FRAMES:].view(
            -1, GUIDANCE_ROWS, CONTEXT_FRAMES, x.shape[-1]
        )
        return torch.cat([kept[rows.step, :, rows.before].flatten(0, 1), x], dim=1)

    def attend(self, layer: int, qkv: Tensor) -> Tensor:
        """(2 * B, 50, 3, heads, head_dim) to (2 * B, 50, heads, head_dim)."""
        pairs = qkv.view(-1, GUIDANCE_ROWS, *qkv.shape[1:])
        return self._attention(self._kv[layer], pairs, None).flatten(0, 1)


class Blocks:
    """What the Conformer kept of the blocks before a run, at one of its two rates."""

    def __init__(self, piece: Piece, run: int, length: int, kv: Tensor) -> None:
        """``run`` positions in blocks of ``length``; ``kv`` is (layers, 2, heads, pages, ...)."""
        self.start = piece.block * length
        self.spans = spans(piece, run, length)
        self.hidden = _hidden(piece, run, length, kv.device)
        self._kv = kv
        self._full = run // length
        self._pages = integers(piece.pages[: self._full], kv.device)
        self._past = integers(piece.past, kv.device)

    def join(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Keeps the run's whole blocks (what follows a short one is nothing), adds those before."""
        kept, pair = self._kv[layer], torch.stack([key, value])
        *_, length, head_dim = kept.shape
        whole = pair[:, :, : self._full * length]
        kept[:, :, self._pages] = whole.reshape(*pair.shape[:2], self._full, length, head_dim)
        past = kept[:, :, self._past].flatten(2, 3)
        joined_key, joined_value = torch.cat([past, pair], dim=2)
        return joined_key, joined_value


def spans(piece: Piece, run: int, length: int) -> Sequence[Span]:
    """Where the keys of ``piece`` stand, the run's last: windows leave holes between spans."""
    found: list[Span] = []
    counts = [(block, length) for block in piece.past_blocks] + [(piece.block, run)]
    for block, count in counts:
        first = block * length
        if found and found[-1].first + found[-1].count == first:
            found[-1] = Span(found[-1].first, found[-1].count + count)
        else:
            found.append(Span(first, count))
    return found


def _hidden(piece: Piece, run: int, length: int, device: torch.device) -> Tensor | None:
    """As ``mask.block_mask``, upside down, for the queries of a run alone."""
    query = piece.block + torch.arange(run)[:, None] // length
    past = torch.tensor(piece.past_blocks, dtype=torch.int64).repeat_interleave(length)
    key = torch.cat([past, query.flatten()])
    hidden = key > query
    if piece.window_blocks is not None:
        hidden |= (key < query - piece.window_blocks) & (key >= piece.prompt_blocks)
    return moved(hidden, device) if hidden.any() else None
