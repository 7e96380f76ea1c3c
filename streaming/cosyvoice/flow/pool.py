"""Pages: the memory of all contexts and voices, taken at start, counted, given back at once.

A page belongs to whoever holds its :class:`Page`; when nobody does, it is free, even while a
step that was launched still writes into it: whatever takes it next is launched after that step, on
the same stream. Knows: how many there are and which lie beside each other. Does not know: what is
in them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping

import torch
from torch import Tensor

from streaming.cosyvoice.flow.base import SCRAP_PAGE, ZERO_PAGE, Shelf
from streaming.errors import Overloaded

RESERVED = 1 + max(ZERO_PAGE, SCRAP_PAGE)


class OutOfPages(Overloaded):
    """No page is free; the pool is as before."""


class Page:
    """One page, held. It goes back when the last reference to it does."""

    __slots__ = ("_returned", "index")

    def __init__(self, index: int, returned: deque[int]) -> None:
        self.index = index
        self._returned = returned

    def __del__(self) -> None:
        # Runs in whatever thread lets go last, in the midst of anything: only append.
        self._returned.append(self.index)


class Pool:
    """``budget_bytes`` of pages, each one slice of every shelf."""

    def __init__(
        self, shelves: Mapping[str, Shelf], *, budget_bytes: int, device: torch.device
    ) -> None:
        self.device = device
        self.page_bytes = page_bytes(shelves)
        self.pages = budget_bytes // self.page_bytes - RESERVED
        if self.pages < 1:
            least = self.page_bytes * (RESERVED + 1)
            raise ValueError(
                f"the flow's memory is {budget_bytes} bytes, less than the {least} of one page: "
                "raise its share of memory"
            )
        count = self.pages + RESERVED
        self.shelves: dict[str, Tensor] = {
            name: torch.empty((*shelf.lead, count, *shelf.page), dtype=shelf.dtype, device=device)
            for name, shelf in shelves.items()
        }
        for name, shelf in shelves.items():
            self.shelves[name].narrow(len(shelf.lead), 0, RESERVED).zero_()
        self._leads = [len(shelf.lead) for shelf in shelves.values()]
        self._free = [True] * self.pages
        self._returned: deque[int] = deque()

    @property
    def free(self) -> int:
        """Pages that nobody holds."""
        self._collect()
        return sum(self._free)

    @property
    def used_bytes(self) -> int:
        """What contexts and voices hold."""
        return (self.pages - self.free) * self.page_bytes

    def slices(self, page: int) -> tuple[Tensor, ...]:
        """That page's part of every shelf, where it lies."""
        shelves = zip(self.shelves.values(), self._leads, strict=True)
        return tuple(shelf.select(lead, page) for shelf, lead in shelves)

    def take(self, count: int, *, after: int | None = None) -> tuple[Page, ...]:
        """``count`` pages, those behind page ``after`` if they are free.

        Pages that lie beside each other can be read in one piece. Raises :class:`OutOfPages`.
        """
        self._collect()
        if sum(self._free) < count:
            raise OutOfPages(
                f"the flow's memory is full: {count} pages of {self.page_bytes} bytes are wanted, "
                f"{sum(self._free)} of {self.pages} are free"
            )
        taken: list[Page] = []
        place = None if after is None else after - RESERVED + 1
        while len(taken) < count:
            if place is None or place >= self.pages or not self._free[place]:
                place = self._roomiest()
            self._free[place] = False
            taken.append(Page(place + RESERVED, self._returned))
            place += 1
        return tuple(taken)

    def _roomiest(self) -> int:
        """The middle of the longest free run, or its start where that begins the pool.

        What already lies before the run keeps half of it to grow into.
        """
        best_start, best = 0, 0
        start = 0
        for place in range(self.pages + 1):
            if place == self.pages or not self._free[place]:
                if place - start > best:
                    best_start, best = start, place - start
                start = place + 1
        return best_start if best_start == 0 else best_start + best // 2

    def _collect(self) -> None:
        while True:
            try:
                index = self._returned.popleft()
            except IndexError:  # asked for first, it may be gone then: others look at `free` too
                return
            self._free[index - RESERVED] = True


def page_bytes(shelves: Mapping[str, Shelf]) -> int:
    """What one page takes."""
    return sum(map(_slice_bytes, shelves.values()))


def _slice_bytes(shelf: Shelf) -> int:
    return math.prod((*shelf.lead, *shelf.page)) * shelf.dtype.itemsize
