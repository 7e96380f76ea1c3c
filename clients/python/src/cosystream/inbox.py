"""What has come for a context and nobody has taken yet: a queue bounded in bytes.

Knows: order, size, the end. Does not know: what an event means. A full inbox takes more all the
same (nothing may be lost); it is for the reader of the socket to wait for room, and for how long.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from cosystream.errors import CosystreamError
from cosystream.events import ContextEvent, Packet

_EVENT_BYTES = 200
"""What an event is counted as, beside its payload: roughly its size in memory."""


class Inbox:
    """Events in order, then the end: quietly, or by an error."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._events: deque[ContextEvent] = deque()
        self._refusals: deque[CosystreamError] = deque()
        self._ended = False
        self._error: Exception | None = None
        self._some = asyncio.Event()
        self._room = asyncio.Event()

    @property
    def full(self) -> bool:
        """Whether so many bytes wait that the reader should."""
        return self._bytes > self._limit_bytes and not self._ended

    def put(self, event: ContextEvent) -> None:
        """Add an event; after the end it is dropped."""
        if not self._ended:
            self._events.append(event)
            self._bytes += _size(event)
            self._some.set()

    def refuse(self, error: CosystreamError) -> None:
        """An error that does not end the stream; it is raised once, before what waits."""
        self._refusals.append(error)
        self._some.set()

    def end(self, error: Exception | None = None) -> None:
        """Nothing more comes. What waits is still given out before ``error`` is raised."""
        self._ended, self._error = True, error
        self._some.set()
        self._room.set()

    def discard(self) -> None:
        """Throw away what waits."""
        self._events.clear()
        self._bytes = 0
        self._room.set()

    def drop_packets(self) -> None:
        """Throw away the audio that waits, and keep the events."""
        self._events = deque(event for event in self._events if not isinstance(event, Packet))
        self._bytes = _EVENT_BYTES * len(self._events)
        self._room.set()

    def raise_refusal(self) -> None:
        """Raise the oldest refusal nobody has seen, if there is one."""
        if self._refusals:
            raise self._refusals.popleft()

    async def get(self) -> ContextEvent | None:
        """The next event; at the end None, or the error raised."""
        while True:
            self.raise_refusal()
            if self._events:
                return self._take()
            if self._error is not None:
                raise self._error
            if self._ended:
                return None
            self._some.clear()
            await self._some.wait()

    async def room(self) -> None:
        """Wait until it is no longer full."""
        while self.full:
            self._room.clear()
            await self._room.wait()

    def _take(self) -> ContextEvent:
        event = self._events.popleft()
        self._bytes -= _size(event)
        self._room.set()
        return event


class Events(AsyncIterator[ContextEvent]):
    """Everything that an inbox gives out, to its end."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    async def __anext__(self) -> ContextEvent:
        event = await self._inbox.get()
        if event is None:
            raise StopAsyncIteration
        return event


class Packets(AsyncIterator[Packet]):
    """The audio that an inbox gives out; all other events are passed over."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    async def __anext__(self) -> Packet:
        while (event := await self._inbox.get()) is not None:
            if isinstance(event, Packet):
                return event
        raise StopAsyncIteration


def _size(event: ContextEvent) -> int:
    return _EVENT_BYTES + (len(event.payload) if isinstance(event, Packet) else 0)
