"""Pages of contexts that wait, on the host: the device's are for those that speak.

What is copied comes back to the bit, into other pages. Copies run on the stream that computes, as
whoever takes the freed pages does: so none is overwritten before it is read. Knows: how a page is
copied, how much of the host all of them may take. Does not know: who waits, or for how long.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from streaming.cosyvoice.flow.pool import Page, Pool
from streaming.errors import Overloaded


class OutOfHostMemory(Overloaded):
    """The host's share is used up; nothing was copied."""


class Lease:
    """Bytes of the host, held. They go back when the last reference to it does."""

    __slots__ = ("_returned", "bytes")

    def __init__(self, taken_bytes: int, returned: deque[int]) -> None:
        self.bytes = taken_bytes
        self._returned = returned

    def __del__(self) -> None:
        # Runs in whatever thread lets go last, in the midst of anything: only append.
        self._returned.append(self.bytes)


@dataclass(frozen=True)
class HostPages:
    """Blocks of a context, away from the device."""

    blocks: tuple[int, ...]
    """Which of the context's blocks they are."""
    copies: tuple[tuple[Tensor, ...], ...] = field(repr=False)
    """Of each block, its page's slice of every shelf."""
    lease: Lease = field(repr=False)

    @property
    def bytes(self) -> int:
        """Host memory this holds."""
        return self.lease.bytes


class HostMemory:
    """At most ``most_bytes`` of copies of a pool's pages."""

    def __init__(self, pool: Pool, most_bytes: int) -> None:
        self._pool = pool
        self._most_bytes = most_bytes
        self._pinned = pool.device.type == "cuda"
        self._used = 0
        self._returned: deque[int] = deque()
        self._counting = threading.Lock()

    @property
    def allowed(self) -> bool:
        """Whether there is any."""
        return self._most_bytes > 0

    @property
    def used_bytes(self) -> int:
        """What contexts hold."""
        with self._counting:
            while self._returned:
                self._used -= self._returned.popleft()
            return self._used

    def store(self, blocks: Sequence[int], pages: Sequence[Page]) -> HostPages:
        """Copies of ``pages``, which hold ``blocks``. Raises :class:`OutOfHostMemory`."""
        lease = self._take(len(pages) * self._page_bytes())
        copies = tuple(
            tuple(self._copied(part) for part in self._pool.slices(page.index)) for page in pages
        )
        return HostPages(tuple(blocks), copies, lease)

    def restore(self, host: HostPages, pages: Iterable[Page]) -> None:
        """Copy what is on the host into ``pages``, one a block."""
        for page, copies in zip(pages, host.copies, strict=True):
            for part, copy in zip(self._pool.slices(page.index), copies, strict=True):
                part.copy_(copy, non_blocking=self._pinned)

    def _take(self, wanted_bytes: int) -> Lease:
        used = self.used_bytes
        if used + wanted_bytes > self._most_bytes:
            raise OutOfHostMemory(
                f"{wanted_bytes} bytes of the host are wanted for contexts that wait, "
                f"{used} of {self._most_bytes} are used"
            )
        with self._counting:
            self._used += wanted_bytes
        return Lease(wanted_bytes, self._returned)

    def _copied(self, part: Tensor) -> Tensor:
        host = torch.empty(part.shape, dtype=part.dtype, pin_memory=self._pinned)
        return host.copy_(part, non_blocking=self._pinned)

    def _page_bytes(self) -> int:
        """Of one page on the host, as memory is taken there."""
        return sum(map(self._taken_bytes, self._pool.slice_bytes))

    def _taken_bytes(self, needed_bytes: int) -> int:
        """Torch takes pinned memory in powers of two, and keeps it for the next who needs some."""
        return 1 << (needed_bytes - 1).bit_length() if self._pinned else needed_bytes
