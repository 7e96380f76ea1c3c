"""Attention of tokens over the slots' keys and values, each token as far as its own position.

Two kinds of tokens share a forward. *Rows* are single tokens, one batch element each: they look at
a slice or a copy of the cache, as long as the longest needs, or where there is a kernel for that
each at its own slot. *Chunks* are runs of one slot's tokens (a prompt): attended together, exactly
as long as they are. Query heads of a group are laid along the query axis, so keys and values are
never repeated for them. Softmax is in float32 inside all kernels, in every dtype.
Does not know: weights, ids, layers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from streaming.cosyvoice.bias import aligned
from streaming.cosyvoice.llm.cache import KvCache
from streaming.cosyvoice.tiles import Kernels, Tiles


@dataclass(frozen=True)
class Chunk:
    """``count`` tokens of ``slot``, packed from ``row`` on, the first at ``position``."""

    slot: int
    row: int
    count: int
    position: int


Look = Callable[[Tensor, int, KvCache], Tensor]
"""``look(query, layer, cache)``: rows (N, heads, size) over what the cache holds of ``layer``."""


@dataclass(frozen=True)
class SideBySide:
    """All rows look at equally many positions; each one's own are not hidden."""

    length: int
    dense: bool
    """Row i is slot i, so that keys and values are a slice and need no gathering."""
    slots: Tensor
    """(N,) int64, read where not ``dense``."""
    bias: Tensor
    """(N, 1, 1, length): 0 where a row may look, -inf elsewhere."""

    def __call__(self, query: Tensor, layer: int, cache: KvCache) -> Tensor:
        """As :data:`Look` says."""
        keys, values = (kept[layer, :, : self.length] for kept in (cache.keys, cache.values))
        if self.dense:
            keys, values = keys[: len(query)], values[: len(query)]
        else:
            keys, values = keys.index_select(0, self.slots), values.index_select(0, self.slots)
        groups = query.view(len(query), keys.shape[2], -1, query.shape[2])
        bias = self.bias.expand(-1, groups.shape[1], groups.shape[2], -1)
        made = scaled_dot_product_attention(
            groups, keys.transpose(1, 2), values.transpose(1, 2), attn_mask=bias
        )
        return made.flatten(1, 2)


@dataclass(frozen=True)
class InPlace:
    """Each row looks at its own slot's positions, where they are."""

    kernels: Kernels
    tiles: Tiles

    def __call__(self, query: Tensor, layer: int, cache: KvCache) -> Tensor:
        """As :data:`Look` says."""
        keys, values = cache.keys[layer], cache.values[layer]
        groups = query.view(len(query), keys.shape[2], 1, -1, query.shape[2])
        return self.kernels.attend(groups, keys, values, self.tiles).flatten(1, 3)


@dataclass(frozen=True)
class Reads:
    """What is attended to: the first ``rows`` tokens are rows, ``chunks`` follow them."""

    rows: int
    look: Look
    """Of the rows."""
    chunks: tuple[Chunk, ...] = ()
    chunk_biases: tuple[Tensor, ...] = ()
    """(groups * count, position + count) for each chunk."""


def row_bias(positions: Tensor, length: int, dtype: torch.dtype) -> Tensor:
    """(N, 1, 1, length) for tokens at ``positions`` (N,)."""
    return _bias(positions, aligned(length), dtype)[:, None, None, :length]


def chunk_bias(chunk: Chunk, groups: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """(groups * count, position + count), causal, the same for each query head of a group."""
    end = chunk.position + chunk.count
    bias = _bias(torch.arange(chunk.position, end, device=device), aligned(end), dtype)
    return bias.repeat(groups, 1)[:, :end]


def attend(query: Tensor, layer: int, cache: KvCache, reads: Reads) -> Tensor:
    """``query`` (N, heads, size) over what the cache holds of ``layer``; the same shape.

    Tokens that are neither rows nor in a chunk are padding and get zeros.
    """
    parts = [reads.look(query[: reads.rows], layer, cache)] if reads.rows else []
    for chunk, bias in zip(reads.chunks, reads.chunk_biases, strict=True):
        parts.append(_chunk(query[chunk.row : chunk.row + chunk.count], layer, cache, chunk, bias))
    padding = query.shape[0] - sum(part.shape[0] for part in parts)
    if padding:
        parts.append(torch.zeros_like(query[:padding]))
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _chunk(query: Tensor, layer: int, cache: KvCache, chunk: Chunk, bias: Tensor) -> Tensor:
    n, heads, size = query.shape
    end = chunk.position + chunk.count
    keys = cache.keys[layer, chunk.slot, :end].transpose(0, 1)[None]
    values = cache.values[layer, chunk.slot, :end].transpose(0, 1)[None]
    kv_heads = keys.shape[1]
    groups = query.view(n, kv_heads, -1, size).permute(1, 2, 0, 3).reshape(1, kv_heads, -1, size)
    made = scaled_dot_product_attention(groups, keys, values, attn_mask=bias)
    return made.view(kv_heads, -1, n, size).permute(2, 0, 1, 3).reshape(n, heads, size)


def _bias(positions: Tensor, length: int, dtype: torch.dtype) -> Tensor:
    seen = torch.arange(length, device=positions.device) <= positions[:, None]
    blank = torch.zeros(seen.shape, device=positions.device, dtype=dtype)
    return blank.masked_fill(~seen, -torch.inf)
