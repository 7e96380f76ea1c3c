"""Time as something that is handed in, so that tests can drive it.

Seconds on a clock that never goes back. Everything that waits takes a ``Clock``.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that is due; ``cancel`` may be called any number of times."""

    def cancel(self) -> None:
        """Make sure the call never happens (if it has not yet)."""


class Clock(Protocol):
    """What waits by: ``now`` in seconds, and calls at a later moment."""

    def now(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    def call_at(self, when_s: float, call: Callable[[], None]) -> Timer:
        """Call ``call`` once ``now() >= when_s``, soon if that is already so."""
        ...


class LoopClock:
    """The running event loop's own time."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop or asyncio.get_running_loop()

    def now(self) -> float:
        """Seconds, as ``loop.time()``."""
        return self._loop.time()

    def call_at(self, when_s: float, call: Callable[[], None]) -> Timer:
        """As ``loop.call_at``."""
        return self._loop.call_at(when_s, call)


class SystemClock:
    """Time for a plain (threaded or single) loop that asks and never is called."""

    def now(self) -> float:
        """Seconds, as ``time.monotonic()``."""
        return time.monotonic()


class ManualClock:
    """A clock that a test moves by hand; due calls happen inside ``advance``, in order."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s
        self._order = itertools.count()
        self._due: list[tuple[float, int, _ManualTimer]] = []

    def now(self) -> float:
        """The moment reached so far."""
        return self._now_s

    def call_at(self, when_s: float, call: Callable[[], None]) -> Timer:
        """Due when ``advance`` reaches ``when_s``."""
        timer = _ManualTimer(call)
        heapq.heappush(self._due, (when_s, next(self._order), timer))
        return timer

    def advance(self, by_s: float) -> None:
        """Move on by ``by_s`` seconds, making every call that falls due on the way."""
        end_s = self._now_s + by_s
        while self._due and self._due[0][0] <= end_s:
            when_s, _, timer = heapq.heappop(self._due)
            self._now_s = max(self._now_s, when_s)
            timer.run()
        self._now_s = end_s


class _ManualTimer:
    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self._call = None

    def run(self) -> None:
        if self._call is not None:
            self._call()
