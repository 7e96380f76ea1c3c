"""Slots: what is written where, kept, wiped."""

from __future__ import annotations

import torch

from streaming.cosyvoice.llm.cache import KvCache
from streaming.cosyvoice.sizes import LlmSizes

SIZES = LlmSizes("cosyvoice3", hidden=32, layers=2, heads=4, kv_heads=2)


def made(slots: int = 3, positions: int = 10) -> KvCache:
    return KvCache(SIZES, slots, positions, torch.device("cpu"), torch.float32)


def fill(cache: KvCache, slot: int, positions: int, value: float) -> None:
    at = torch.arange(positions)
    content = torch.full((positions, 2, 8), value)
    for layer in range(SIZES.layers):
        cache.write(layer, torch.full_like(at, slot), at, content, -content)


def test_rows_come_in_eights_with_one_at_least_that_is_no_slot() -> None:
    assert [made(slots).rows for slots in (1, 7, 8, 15, 16)] == [8, 8, 16, 16, 24]


def test_it_says_what_it_holds() -> None:
    cache = made()
    # 2 layers x keys and values x 2 heads x 8 x 4 bytes
    assert cache.bytes_per_position == 2 * 2 * 2 * 8 * 4
    assert cache.bytes == cache.bytes_per_position * 8 * 11


def test_what_is_kept_is_a_copy_and_begins_another_slot() -> None:
    cache = made()
    fill(cache, 0, 4, 5.0)
    kept = cache.keep(0, 4)
    assert (kept.positions, kept.bytes) == (4, 4 * cache.bytes_per_position)
    fill(cache, 0, 4, 6.0)
    cache.restore(2, kept)
    assert bool((cache.keys[:, 2, :4] == 5).all())
    assert bool((cache.values[:, 2, :4] == -5).all())
    assert not cache.keys[:, 2, 4:].any()
    assert not cache.keys[:, 1].any()


def test_a_wiped_slot_is_as_new() -> None:
    cache = made()
    fill(cache, 1, 6, torch.nan)
    fill(cache, 2, 6, 1.0)
    cache.wipe(1, 6)
    assert not cache.keys[:, 1].any()
    assert not cache.values[:, 1].any()
    assert bool(cache.keys[:, 2, :6].all())
