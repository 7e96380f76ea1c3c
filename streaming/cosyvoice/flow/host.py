"""What left the device, on the host: pages of contexts that wait, and of voices nobody speaks with.

What is copied comes back to the bit, into other pages. Copies run on the stream that computes, as
whoever takes the freed pages does: so none is overwritten before it is read. Knows: how a page is
copied, how much of the host may be taken. Does not know: who is away, or for how long.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from streaming.cosyvoice.flow.pool import Page, Pool
from streaming.errors import Overloaded


class OutOfHostMemory(Overloaded):
    """The host's share is used up, or the host itself is; nothing was copied."""


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
class Away:
    """Tensors that were copied to the host, and their lease."""

    copies: tuple[Tensor, ...] = field(repr=False)
    lease: Lease = field(repr=False)

    @property
    def bytes(self) -> int:
        """Host memory this holds."""
        return self.lease.bytes

    @property
    def copied_bytes(self) -> int:
        """What of it was copied."""
        return sum(copy.nbytes for copy in self.copies)


@dataclass(frozen=True)
class HostPages:
    """Blocks of a context or a voice, away from the device."""

    blocks: tuple[int, ...]
    """Which of its blocks they are."""
    away: Away
    """Of each block in turn, its page's slice of every shelf."""

    @property
    def bytes(self) -> int:
        """Host memory this holds."""
        return self.away.bytes


class HostMemory:
    """At most ``most_bytes`` of copies, of a pool's pages and of whatever else takes a lease."""

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
        """What is held."""
        with self._counting:
            return self._count()

    def store(self, blocks: Sequence[int], pages: Sequence[Page]) -> HostPages:
        """Copies of ``pages``, which hold ``blocks``. Raises :class:`OutOfHostMemory`."""
        return HostPages(tuple(blocks), self.keep(self._slices(pages)))

    def restore(self, host: HostPages, pages: Sequence[Page]) -> None:
        """Copy what is on the host into ``pages``, one a block."""
        for part, copy in zip(self._slices(pages), host.away.copies, strict=True):
            part.copy_(copy, non_blocking=self._pinned)

    def keep(self, tensors: Sequence[Tensor]) -> Away:
        """Copies of what lies on the device. Raises :class:`OutOfHostMemory`."""
        lease = self._lease(sum(self._taken_bytes(each.nbytes) for each in tensors))
        return Away(tuple(map(self._copied, tensors)), lease)

    def _slices(self, pages: Sequence[Page]) -> list[Tensor]:
        return [part for page in pages for part in self._pool.slices(page.index)]

    def _lease(self, wanted_bytes: int) -> Lease:
        with self._counting:
            used = self._count()
            if used + wanted_bytes > self._most_bytes:
                raise OutOfHostMemory(
                    f"{wanted_bytes} bytes of the host are wanted for what leaves the device, "
                    f"{used} of {self._most_bytes} are used"
                )
            self._used += wanted_bytes
        return Lease(wanted_bytes, self._returned)

    def _count(self) -> int:
        while self._returned:
            self._used -= self._returned.popleft()
        return self._used

    def _copied(self, tensor: Tensor) -> Tensor:
        try:
            host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=self._pinned)
        except (RuntimeError, MemoryError) as error:  # torch has no class of its own for it
            raise OutOfHostMemory(f"the host has no {tensor.nbytes} bytes left: {error}") from error
        try:
            return host.copy_(tensor, non_blocking=self._pinned)
        except torch.OutOfMemoryError as error:  # a page lies in pieces, which are gathered first
            raise OutOfHostMemory(f"the device has no room to copy from: {error}") from error

    def _taken_bytes(self, needed_bytes: int) -> int:
        """Torch takes pinned memory in powers of two, and keeps it for the next who needs some."""
        return 1 << (needed_bytes - 1).bit_length() if self._pinned else needed_bytes
