"""A front end as a process: text in, segments out.

Knows: how a front end is told of messages and of time. Does not know: how text is cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from streaming.clock import SystemClock
from streaming.config import EngineSettings
from streaming.engine.channel import Channel, take_standard_streams
from streaming.engine.wire import to_text
from streaming.messages import (
    PROBE_CTX,
    FromText,
    TextAppend,
    TextDrop,
    TextEnded,
    ToText,
)
from streaming.text.frontend import FrontEnd

PIECE_CHARS: Final = 250
"""Of a long delta this much is cut before the other contexts have their turn."""


def run_text(settings: EngineSettings) -> None:
    """Cut text into segments for ever."""
    channel: Channel[ToText] = Channel(to_text(), *take_standard_streams())
    TextLoop(FrontEnd(settings.text), channel, SystemClock()).run()


class TextLoop:
    """A front end, told of messages and of time; contexts that have much to say take turns."""

    def __init__(self, front: FrontEnd, channel: Channel[ToText], clock: SystemClock) -> None:
        self._front = front
        self._channel = channel
        self._clock = clock
        self._waiting: dict[int, deque[ToText]] = {}

    def run(self) -> None:
        """For ever; the process ends when its parent is gone."""
        while True:
            self.turn()

    def turn(self) -> None:
        """Read all that came, do one thing for each context, say what came of it.

        Whose time has come is asked right after reading: what has come since is not known of.
        """
        for message in self._channel.receive(self._rest_s()):
            self._take(message)
        answers = self._front.tick(self._clock.now(), self._waiting)
        for ctx in list(self._waiting):
            answers += self._next(ctx)
        self._channel.send(answers)

    def _rest_s(self) -> float | None:
        if self._waiting:
            return 0.0
        due_s = self._front.due_s()
        return None if due_s is None else max(0.0, due_s - self._clock.now())

    def _take(self, message: ToText) -> None:
        if isinstance(message, TextDrop):
            self._waiting.pop(message.ctx, None)  # nobody wants it any more
        self._waiting.setdefault(message.ctx, deque()).extend(_in_pieces(message))

    def _next(self, ctx: int) -> list[FromText]:
        waiting = self._waiting[ctx]
        message = waiting.popleft()
        if not waiting:
            del self._waiting[ctx]
        if ctx == PROBE_CTX:
            return [TextEnded(ctx=PROBE_CTX, segments=0)]
        return self._front.handle(message, self._clock.now())


def _in_pieces(message: ToText) -> Iterator[ToText]:
    """A long delta as many short ones: however a text is cut, its segments are the same."""
    if not isinstance(message, TextAppend) or len(message.delta) <= PIECE_CHARS:
        yield message
        return
    for start in range(0, len(message.delta), PIECE_CHARS):
        piece = message.delta[start : start + PIECE_CHARS]
        yield TextAppend(ctx=message.ctx, delta=piece)
