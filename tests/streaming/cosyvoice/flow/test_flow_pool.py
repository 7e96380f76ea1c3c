"""Pages: counted, beside each other where that can be, free the moment nobody holds them."""

from __future__ import annotations

import pytest
import torch

from streaming.cosyvoice.flow.base import SCRAP_PAGE, ZERO_PAGE, Shelf
from streaming.cosyvoice.flow.pool import OutOfPages, Pool

SHELVES = {
    "wide": Shelf((2, 3), (4, 5), torch.float32),
    "narrow": Shelf((), (7,), torch.bfloat16),
}
PAGE_BYTES = 2 * 3 * 4 * 5 * 4 + 7 * 2


@pytest.fixture
def pool():
    return Pool(SHELVES, budget_bytes=(16 + 2) * PAGE_BYTES, device=torch.device("cpu"))


def indices(pages):
    return [page.index for page in pages]


def test_a_page_is_a_slice_of_every_shelf(pool):
    assert pool.page_bytes == PAGE_BYTES
    assert pool.pages == 16
    assert pool.shelves["wide"].shape == (2, 3, 18, 4, 5)
    assert pool.shelves["narrow"].shape == (18, 7)
    assert pool.shelves["narrow"].dtype == torch.bfloat16


def test_it_takes_no_more_than_its_budget():
    pool = Pool(SHELVES, budget_bytes=10 * PAGE_BYTES + 1, device=torch.device("cpu"))
    assert sum(shelf.nbytes for shelf in pool.shelves.values()) == 10 * PAGE_BYTES


def test_a_budget_too_small_for_one_page_says_how_much_that_is():
    with pytest.raises(ValueError, match=f"less than the {3 * PAGE_BYTES} of one page"):
        Pool(SHELVES, budget_bytes=PAGE_BYTES, device=torch.device("cpu"))


def test_the_reserved_pages_are_zero_and_never_given_away(pool):
    taken = pool.take(16)
    assert not {ZERO_PAGE, SCRAP_PAGE} & set(indices(taken))
    assert len(set(indices(taken))) == 16
    for shelf in pool.shelves.values():
        pages = shelf if shelf.dim() == 2 else shelf.movedim(2, 0)
        assert (pages[[ZERO_PAGE, SCRAP_PAGE]] == 0).all()


def test_pages_follow_each_other_and_those_they_continue(pool):
    first = pool.take(2)
    other = pool.take(1)
    more = pool.take(3, after=first[-1].index)
    assert indices([*first, *more]) == list(range(first[0].index, first[0].index + 5))
    assert other[0].index not in indices(more)


def test_what_comes_second_leaves_the_first_room_to_grow(pool):
    first, second = pool.take(1), pool.take(1)
    assert abs(first[0].index - second[0].index) >= 7


def test_where_there_is_no_run_left_pages_are_taken_where_they_are(pool):
    held = [pool.take(1) for _ in range(16)]
    for at in (1, 4, 11):
        held[at] = ()
    assert len(pool.take(3)) == 3


def test_what_nobody_holds_is_free(pool):
    taken = pool.take(5)
    assert (pool.free, pool.used_bytes) == (11, 5 * PAGE_BYTES)
    kept = taken[1]
    del taken
    assert pool.free == 15
    del kept
    assert (pool.free, pool.used_bytes) == (16, 0)


def test_too_many_are_refused_and_nothing_is_taken(pool):
    held = pool.take(10)
    with pytest.raises(OutOfPages, match=r"7 pages .* 6 of 16 are free"):
        pool.take(7)
    assert pool.free == 6
    assert len(pool.take(6)) == 6
    assert len(held) == 10
