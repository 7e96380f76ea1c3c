"""A front end as a process: text in, segments out.

Knows: how a front end is told of messages and of time. Does not know: how text is cut.
"""

from __future__ import annotations

from streaming.clock import SystemClock
from streaming.config import EngineSettings
from streaming.engine.channel import Channel, take_standard_streams
from streaming.engine.wire import to_text
from streaming.messages import PROBE_CTX, FromText, TextEnded, ToText
from streaming.text.frontend import FrontEnd


def run_text(settings: EngineSettings) -> None:
    """Cut text into segments for ever."""
    channel: Channel[ToText] = Channel(to_text(), *take_standard_streams())
    TextLoop(FrontEnd(settings.text), channel, SystemClock()).run()


class TextLoop:
    """A front end, told of messages and of time."""

    def __init__(self, front: FrontEnd, channel: Channel[ToText], clock: SystemClock) -> None:
        self._front = front
        self._channel = channel
        self._clock = clock

    def run(self) -> None:
        """For ever; the process ends when its parent is gone."""
        while True:
            messages = self._channel.receive(self._rest_s())
            answers = [answer for message in messages for answer in self._handle(message)]
            self._channel.send(answers + self._front.tick(self._clock.now()))

    def _rest_s(self) -> float | None:
        due_s = self._front.due_s()
        return None if due_s is None else max(0.0, due_s - self._clock.now())

    def _handle(self, message: ToText) -> list[FromText]:
        if message.ctx == PROBE_CTX:
            return [TextEnded(ctx=PROBE_CTX, segments=0)]
        return self._front.handle(message, self._clock.now())
