"""The engine's clock and mailbox in one process, in real time: calls that are due, messages.

Knows: the order of things. Does not know: what they mean.
"""

from __future__ import annotations

import heapq
import itertools
import re
import threading
import time
from collections.abc import Callable, Sequence

from streaming.messages import Message, ToEngine
from streaming.segment import Segment

Told = Callable[[Message], None]

_SENTENCE_END = re.compile(r"(?<=[.?!]) ")


class Desk:
    """Used from the engine's thread alone, but for ``wake``."""

    def __init__(self) -> None:
        self.told: Told = lambda _: None
        self._order = itertools.count()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._inbox: list[ToEngine] = []
        self._woken = threading.Event()

    def now(self) -> float:
        """Seconds on the system's clock."""
        return time.monotonic()

    def at(self, when_s: float, call: Callable[[], None]) -> None:
        """Let ``call`` happen then, or as soon as the engine looks into its mailbox."""
        heapq.heappush(self._due, (when_s, next(self._order), call))

    def tell(self, message: ToEngine) -> None:
        """Something for the engine."""
        self._inbox.append(message)

    def wake(self) -> None:
        """Let ``receive`` return."""
        self._woken.set()

    def receive(self, timeout_s: float | None) -> list[ToEngine]:
        """Everything that came; waits for something up to ``timeout_s``."""
        until_s = float("inf") if timeout_s is None else self.now() + timeout_s
        self._call()
        while not self._inbox and not self._woken.is_set() and (now_s := self.now()) < until_s:
            next_s = min(until_s, self._due[0][0] if self._due else until_s)
            self._woken.wait(min(next_s - now_s, threading.TIMEOUT_MAX))
            self._call()
        self._woken.clear()
        messages, self._inbox = self._inbox, []
        return messages

    def send(self, messages: Sequence[Message]) -> None:
        """The engine publishes."""
        for message in messages:
            self.told(message)

    def clear(self) -> None:
        """Forget calls that are not due yet."""
        self._due.clear()

    def _call(self) -> None:
        while self._due and self._due[0][0] <= self.now():
            heapq.heappop(self._due)[2]()


def segments(text: str) -> list[Segment]:
    """Sentences, as the front end lets them go."""
    made: list[Segment] = []
    begin = 0
    for index, sentence in enumerate(_SENTENCE_END.split(text)):
        made.append(
            Segment(
                index=index,
                text=sentence,
                source=sentence,
                char_start=begin,
                char_end=begin + len(sentence),
                ending="sentence",
                language="en",
            )
        )
        begin += len(sentence) + 1
    return made
