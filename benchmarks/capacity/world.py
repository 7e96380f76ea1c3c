"""Simulated time: what happens next, and the engine's loop living in it.

Knows: events in order. Does not know: what they do.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence

from streaming.messages import Message, ToEngine

Told = Callable[[Message], None]


class World:
    """A clock, events, and the mailbox between the engine's loop and its listeners."""

    def __init__(self, turn_s: float) -> None:
        """``turn_s``: what a turn of the loop costs the host, beside its rows."""
        self.told: Told = lambda _: None
        self._turn_s = turn_s
        self._now_s = 0.0
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._inbox: list[ToEngine] = []
        self._woken = False

    def __len__(self) -> int:
        return len(self._events)

    def now(self) -> float:
        """Seconds since the beginning."""
        return self._now_s

    def at(self, when_s: float, call: Callable[[], None]) -> None:
        """Let ``call`` happen then; what lies in the past happens next."""
        heapq.heappush(self._events, (max(when_s, self._now_s), next(self._order), call))

    def tell(self, message: ToEngine) -> None:
        """Something for the engine."""
        self._inbox.append(message)

    def wake(self) -> None:
        """Let ``receive`` return."""
        self._woken = True

    def spend(self, seconds: float) -> None:
        """The engine's thread computes for so long."""
        self._advance(self._now_s + seconds)

    def receive(self, timeout_s: float | None) -> list[ToEngine]:
        """Everything that came; time goes on until something does, or ``timeout_s`` is over."""
        until_s = self._now_s + (timeout_s or 0.0)
        self.spend(self._turn_s)
        while not self._inbox and not self._woken and self._events:
            when_s = self._events[0][0]
            if when_s > until_s:
                self._now_s = max(self._now_s, until_s)
                break
            self._advance(when_s)
        self._woken = False
        messages, self._inbox = self._inbox, []
        return messages

    def send(self, messages: Sequence[Message]) -> None:
        """The engine publishes."""
        for message in messages:
            self.told(message)

    def _advance(self, to_s: float) -> None:
        while self._events and self._events[0][0] <= to_s:
            when_s, _, call = heapq.heappop(self._events)
            self._now_s = max(self._now_s, when_s)
            call()
        self._now_s = max(self._now_s, to_s)
