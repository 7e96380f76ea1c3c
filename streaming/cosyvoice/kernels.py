"""Attention where keys and values lie: two kernels, in Triton.

To be imported only where Triton is. Knows: tiles. Does not know: what they are of.
"""

# mypy: disable-error-code="untyped-decorator, no-untyped-def"
# What Triton compiles is typed by each call.

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from streaming.cosyvoice.tiles import Tiles

LEAST = 16
"""Matrix units multiply no smaller pieces."""

TOGETHER = 8
"""Each tile begins at a multiple of so many numbers, so that they are read so many at a time."""

STAGES = 2
"""A tile is read while the one before it is computed with."""

LOG2_E = math.log2(math.e)


def attend(query: Tensor, keys: Tensor, values: Tensor, tiles: Tiles) -> Tensor:
    """As :class:`~streaming.cosyvoice.tiles.Kernels` says; softmax and sums are in float32."""
    rows, groups, heads, queries, size = query.shape
    assert query.stride(-1) == 1, "a query's numbers lie beside each other"
    assert size % TOGETHER == 0, "so that tiles begin where they may"
    made = query.new_empty(rows, groups, queries, heads, size)
    _attend[rows, groups * heads](
        query,
        keys,
        values,
        made,
        tiles.begins,
        tiles.lengths,
        tiles.begins.shape[1],
        LOG2_E / math.sqrt(size),
        *query.stride()[:4],
        tiles.head_stride,
        tiles.key_stride,
        heads,
        QUERIES=queries,
        KEYS=tiles.keys,
        SIZE=size,
        QUERY_ROWS=_filled(queries),
        KEY_ROWS=_filled(tiles.keys),
        COLUMNS=_filled(size),
        TOGETHER=TOGETHER,
        num_warps=warps(query.dtype == torch.float32),
        num_stages=STAGES,
    )
    return made


def keep(qkv: Tensor, turn: Tensor | None, shelf: Tensor, begins: Tensor) -> None:
    """As :class:`~streaming.cosyvoice.tiles.Kernels` says."""
    rows, groups, queries, _, heads, size = qkv.shape
    assert qkv.is_contiguous(), "a product is"
    assert turn is None or turn.is_contiguous(), "the kernel walks over it"
    assert shelf.is_contiguous(), "a shelf is"
    _keep[rows, groups * heads](
        qkv,
        qkv if turn is None else turn,
        shelf,
        begins,
        shelf.stride(0),
        shelf.stride(-4),
        rows,
        groups,
        heads,
        TURNS=turn is not None,
        QUERIES=queries,
        SIZE=size,
        QUERY_ROWS=_filled(queries),
        COLUMNS=_filled(size),
        PAIRS=_filled(size // 2),
    )


def warps(in_float32: bool) -> int:
    """Threads of a program, in 32s: numbers twice as wide need twice the registers."""
    return 8 if in_float32 else 4


def _filled(count: int) -> int:
    return max(LEAST, 1 << (count - 1).bit_length())


@triton.jit(do_not_specialize=["tiles"])  # or it would be compiled anew for some numbers
def _attend(
    query,
    keys,
    values,
    made,
    begins,
    lengths,
    tiles,
    scale,
    row_stride,
    group_stride,
    head_stride,
    query_stride,
    kept_head_stride,
    key_stride,
    heads,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    SIZE: tl.constexpr,
    QUERY_ROWS: tl.constexpr,
    KEY_ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    TOGETHER: tl.constexpr,
):
    # A row's head in each program: its queries stay, its tiles come by, with a running softmax
    # (Milakov and Gimelshein, 2018).
    row = tl.program_id(0).to(tl.int64)
    all_heads = tl.num_programs(1)
    own = tl.program_id(1).to(tl.int64)
    group, head = own // heads, own % heads
    asked = tl.arange(0, QUERY_ROWS)
    column = tl.arange(0, COLUMNS)
    wanted = (asked < QUERIES)[:, None] & (column < SIZE)[None, :]
    from_query = query + row * row_stride + group * group_stride + head * head_stride
    where = from_query + asked[:, None] * query_stride + column[None, :]
    rows = tl.load(where, mask=wanted, other=0.0)

    seen = tl.arange(0, KEY_ROWS)
    within = seen[:, None] * key_stride + column[None, :]
    length = tl.load(lengths + row)
    most = tl.full([QUERY_ROWS], float("-inf"), tl.float32)
    total = tl.zeros([QUERY_ROWS], tl.float32)
    mixed = tl.zeros([QUERY_ROWS, COLUMNS], tl.float32)
    for tile in range(tl.cdiv(length, KEYS)):
        begin = tl.load(begins + row * tiles + tile) + own * kept_head_stride
        begin = tl.multiple_of(begin, TOGETHER)
        there = (seen < KEYS) & (seen < length - tile * KEYS)
        read = there[:, None] & (column < SIZE)[None, :]
        key = tl.load(keys + begin + within, mask=read, other=0.0)
        value = tl.load(values + begin + within, mask=read, other=0.0)
        score = tl.dot(rows, tl.trans(key), input_precision="ieee") * scale
        score = tl.where(there[None, :], score, float("-inf"))
        higher = tl.maximum(most, tl.max(score, 1))
        weight = tl.exp2(score - higher[:, None])
        fade = tl.exp2(most - higher)
        total = total * fade + tl.sum(weight, 1)
        product = tl.dot(weight.to(value.dtype), value, input_precision="ieee")
        mixed = mixed * fade[:, None] + product
        most = higher

    # The result has the heads of a group side by side, as the next product takes them.
    from_made = (row * all_heads + group * heads) * QUERIES * SIZE + head * SIZE
    where = made + from_made + asked[:, None] * (heads * SIZE) + column[None, :]
    tl.store(where, (mixed / total[:, None]).to(rows.dtype), mask=wanted)


@triton.jit(do_not_specialize=["rows"])
def _keep(
    qkv,
    turn,
    shelf,
    begins,
    half_stride,
    head_stride,
    rows,
    groups,
    heads,
    TURNS: tl.constexpr,
    QUERIES: tl.constexpr,
    SIZE: tl.constexpr,
    QUERY_ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    PAIRS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    own = tl.program_id(1).to(tl.int64)
    group, head = own // heads, own % heads
    query = qkv + (row * groups + group) * QUERIES * 3 * heads * SIZE + head * SIZE
    key = query + heads * SIZE
    value = key + heads * SIZE
    kept = shelf + tl.load(begins + row) + own * head_stride
    asked = tl.arange(0, QUERY_ROWS)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    there = (asked < QUERIES) & (column < SIZE)
    given = asked * (3 * heads * SIZE) + column
    taken = asked * SIZE + column
    tl.store(kept + half_stride + taken, tl.load(value + given, mask=there), mask=there)
    if not TURNS or head > 0:
        tl.store(kept + taken, tl.load(key + given, mask=there), mask=there)
    else:
        pair = tl.arange(0, PAIRS)[None, :]
        paired = (asked < QUERIES) & (pair < SIZE // 2)
        from_pair = asked * (3 * heads * SIZE) + 2 * pair
        cos_at = turn + row * (QUERIES * SIZE // 2) + asked * (SIZE // 2) + pair
        cos = tl.load(cos_at, mask=paired)
        sin = tl.load(cos_at + rows * (QUERIES * SIZE // 2), mask=paired)
        _turn(key + from_pair, kept + asked * SIZE + 2 * pair, cos, sin, paired)
        _turn(query + from_pair, query + from_pair, cos, sin, paired)


@triton.jit
def _turn(given, taken, cos, sin, there):
    first = tl.load(given, mask=there).to(tl.float32)
    second = tl.load(given + 1, mask=there).to(tl.float32)
    kind = taken.dtype.element_ty
    tl.store(taken, (first * cos - second * sin).to(kind), mask=there)
    tl.store(taken + 1, (second * cos + first * sin).to(kind), mask=there)
