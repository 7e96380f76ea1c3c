"""A batch of decodings as one table of integers, padded to a shape that repeats.

Rows of the table are what the device is told of each token: its code, slot, position, where its
keys go; and of each draw: from which token, for which slot, step, key and flags.
Does not know: weights, how the table is used.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from streaming.cosyvoice.llm.attention import Chunk
from streaming.cosyvoice.llm.cache import ROW_STEP, KvCache
from streaming.cosyvoice.llm.decoding import Decoding

RIDE_TOKENS = 8
"""A piece up to so long rides with the single tokens, each its own row; longer is a chunk."""

CODE, SLOT, POSITION, WRITE_AT, TAKE, DRAW_SLOT, STEP, KEY, FLAGS = range(9)
_ROWS = 9


@dataclass(frozen=True)
class StepShape:
    """All that a captured step is fixed to; tensors carry everything else."""

    tokens: int
    rows: int
    """Of these, how many are attended one by one."""
    length: int
    dense: bool
    draws: int
    """0: nothing is drawn in this step."""


@dataclass(frozen=True)
class Packed:
    """``table`` (9, max(tokens, draws)) int64 on the host."""

    shape: StepShape
    table: Tensor
    chunks: tuple[Chunk, ...]
    drawing: tuple[Decoding, ...]
    """Whose draws the results are, in order."""


@dataclass(frozen=True)
class Buckets:
    """Sizes that batches and lengths are padded to.

    ``rows`` ascend; a batch beyond the last is padded to a multiple of ``ROW_STEP``.
    """

    rows: tuple[int, ...]
    lengths: tuple[int, ...] = ()
    """None where rows look no further than each must: all steps are then of the full length."""

    def fit_rows(self, count: int) -> int:
        """The least bucket that holds ``count``."""
        at = bisect_left(self.rows, count)
        return self.rows[at] if at < len(self.rows) else -(-count // ROW_STEP) * ROW_STEP

    def fit_length(self, count: int, most: int) -> int:
        """The same for positions, of which there are ``most``."""
        at = bisect_left(self.lengths, count)
        return min(self.lengths[at], most) if at < len(self.lengths) else most


def pack(batch: Sequence[Decoding], cache: KvCache, buckets: Buckets) -> Packed:
    """The table of a step that feeds the next piece of each."""
    riding = [one for one in batch if len(one.piece.codes) <= RIDE_TOKENS]
    chunked = [one for one in batch if len(one.piece.codes) > RIDE_TOKENS]
    tokens, dense = _riding(riding, cache, buckets)
    rows = len(tokens)
    chunks = []
    for one in chunked:
        chunks.append(Chunk(one.slot, len(tokens), len(one.piece.codes), one.fed))
        tokens += _tokens(one)
    if chunks:
        count = -(-len(tokens) // ROW_STEP) * ROW_STEP
        tokens += [_padding(cache, cache.scratch)] * (count - len(tokens))
    seen = max((position for _, _, position, _ in tokens[:rows]), default=0) + 1
    drawing = tuple(one for one in (*riding, *chunked) if one.piece.samples)
    draws = _draws(len(drawing), len(tokens), buckets, alone=not chunks)
    length = buckets.fit_length(seen, cache.positions)
    shape = StepShape(len(tokens), rows, length, dense, draws)
    return Packed(shape, _table(tokens, drawing, draws, cache), tuple(chunks), drawing)


def idle_table(shape: StepShape, cache: KvCache) -> Tensor:
    """The table of a step in which nobody takes part."""
    slots = range(shape.tokens) if shape.dense else [cache.scratch] * shape.tokens
    return _table([_padding(cache, slot) for slot in slots], (), shape.draws, cache)


def shapes_of(cache: KvCache, buckets: Buckets, batch: int) -> list[StepShape]:
    """Those of steps without chunks for so many contexts at most.

    The largest first, whose memory the others then use.
    """
    counts = range(1, min(batch, cache.slots) + 1)
    rows = {min(buckets.fit_rows(count), cache.rows) for count in counts}
    lengths = {buckets.fit_length(one, cache.positions) for one in (*buckets.lengths, 1 << 62)}
    return [
        StepShape(count, count, length, dense, count)
        for count in sorted(rows, reverse=True)
        for length in sorted(lengths, reverse=True)
        for dense in ((True, False) if buckets.lengths else (False,))
    ]


Token = tuple[int, int, int, int]
"""Code, slot, position, where its keys are written."""


def _tokens(one: Decoding) -> list[Token]:
    return [(code, one.slot, at, at) for at, code in enumerate(one.piece.codes, one.fed)]


def _padding(cache: KvCache, slot: int) -> Token:
    return (0, slot, 0, cache.nowhere)


def _riding(
    batch: Sequence[Decoding], cache: KvCache, buckets: Buckets
) -> tuple[list[Token], bool]:
    """Single tokens: in their slots' order where the slots lie close, else gathered."""
    tokens = [token for one in batch for token in _tokens(one)]
    if not tokens:
        return [], False
    bucket = buckets.fit_rows(len(tokens))
    if buckets.lengths and len(tokens) == len(batch):
        spread = min(buckets.fit_rows(max(one.slot for one in batch) + 1), cache.rows)
        if spread <= bucket:
            dense = [_padding(cache, slot) for slot in range(spread)]
            for token in tokens:
                dense[token[1]] = token
            return dense, True
    tokens += [_padding(cache, cache.scratch)] * (bucket - len(tokens))
    return tokens, False


def _draws(drawing: int, tokens: int, buckets: Buckets, *, alone: bool) -> int:
    """Without chunks as many as tokens, so that shapes are few."""
    if not drawing:
        return 0
    return tokens if alone else buckets.fit_rows(drawing)


def _table(tokens: list[Token], drawing: Sequence[Decoding], draws: int, cache: KvCache) -> Tensor:
    width = max(len(tokens), draws)
    last = {token[1]: row for row, token in enumerate(tokens) if token[3] != cache.nowhere}
    drawn = [
        (last[one.slot], one.slot, one.script.draws, one.key, one.piece.flags) for one in drawing
    ]
    drawn += [(0, cache.scratch, 0, 0, 0)] * (draws - len(drawn))
    table = torch.zeros((_ROWS, width), dtype=torch.int64)
    table[:TAKE, : len(tokens)] = torch.tensor(tokens, dtype=torch.int64).T
    if draws:
        table[TAKE:, :draws] = torch.tensor(drawn, dtype=torch.int64).T
    return table
