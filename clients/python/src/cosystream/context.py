"""One continuous stream of speech: text goes in, packets come out, both at once.

Knows: its own text, events and end. Does not know: the connection it travels on (which may be a
second or third one by now); it hands messages to a ``Wire`` and is told what came.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from typing import Protocol

from cosystream.errors import ContextFailed, CosystreamError, MessageRefused
from cosystream.events import (
    Cancelled,
    ContextEvent,
    Done,
    Flushed,
    Opened,
    Packet,
    SegmentEvent,
)
from cosystream.inbox import Events, Inbox, Packets
from cosystream.outbox import Message, Outbox
from cosystream.stats import Meter, Stats

MAX_DELTA_CHARS = 8_192
"""Longer text is sent in pieces: at six bytes a character a twentieth of a message's limit."""

_TEXT_STOPPERS = frozenset({"text_too_long", "not_allowed"})
"""Refusals of a delta after which no other can be accepted, since its number is missing."""


class Wire(Protocol):
    """What a context needs of its client."""

    async def post(self, context: Context) -> None:
        """Send what its outbox holds, waiting for a connection if there is none at present."""

    async def tell(self, message: Message) -> None:
        """Send a message that is of no use later, if there is a connection."""


class Context:
    """Made by ``Client.open``. Iterate over it for packets, over ``events()`` for everything.

    A message that the server refused without ending the context (text too long, say) raises
    ``MessageRefused`` once, from whichever call comes next.
    """

    def __init__(
        self, wire: Wire, ctx: str, opening: Message, *, meter: Meter, buffer_bytes: int
    ) -> None:
        self.id = ctx
        self.outbox = Outbox(ctx, opening)
        self.inbox = Inbox(buffer_bytes)
        self._wire = wire
        self._meter = meter
        self._flush_numbers = itertools.count(1)
        self._opened: Opened | None = None
        self._closing: Cancelled | Done | Exception | None = None
        self._progress = asyncio.Event()
        self._over = asyncio.Event()
        self._feeding: asyncio.Task[None] | None = None
        self._text_refused: CosystreamError | None = None

    def __repr__(self) -> str:
        return f"<Context {self.id} {'over' if self.over else 'active'}>"

    @property
    def over(self) -> bool:
        """Whether it has ended; what has come may still wait to be taken."""
        return self._over.is_set()

    @property
    def acknowledged(self) -> bool:
        """Whether the server has said that it opened it."""
        return self._opened is not None

    async def send(self, delta: str, *, end: bool = False) -> None:
        """Append text, any length, ``""`` included; with ``end`` there is no more.

        Raises ValueError for text that is not Unicode (a lone surrogate), the context's error if
        it failed, MessageRefused with ``context_gone`` or ``context_ended`` where it is too late,
        or with the code of a text that was refused before: none after it can be accepted.
        """
        _check_unicode(delta)
        self._check_writable()
        if self._text_refused is not None:
            raise self._text_refused
        now_s = time.perf_counter()
        self._meter.text(delta, now_s)
        for start in range(0, len(delta), MAX_DELTA_CHARS):
            self.outbox.text(delta[start : start + MAX_DELTA_CHARS])
        if end:
            self.outbox.end()
            self._meter.release(now_s)
        await self._wire.post(self)

    async def flush(self, flush_id: str | None = None) -> str:
        """Have what was sent so far spoken at once; returns the id that ``Flushed`` will carry."""
        self._check_writable()
        flush_id = f"f-{next(self._flush_numbers)}" if flush_id is None else flush_id
        self.outbox.flush(flush_id)
        self._meter.release(time.perf_counter())
        await self._wire.post(self)
        return flush_id

    async def end(self) -> None:
        """No more text: all audio follows, then ``Done``."""
        self._check_writable()
        self.outbox.end()
        self._meter.release(time.perf_counter())
        await self._wire.post(self)

    def feed(self, source: AsyncIterable[str]) -> None:
        """Send the texts of ``source`` as they come, then ``end``, beside whatever else goes on.

        An exception of ``source`` cancels the context and is raised to whoever reads it. Raises
        RuntimeError where a source was given before.
        """
        if self._feeding is not None:
            raise RuntimeError(f"context {self.id} has a source already")
        self._feeding = asyncio.create_task(self._feed(source), name=f"cosystream feed {self.id}")

    async def cancel(self, played_ms: float | None = None) -> Cancelled | Done:
        """Stop now. No packet comes after it returns; those that wait unread are dropped.

        ``played_ms`` is how much was heard, if you know it. Returns ``Done`` where everything had
        been sent before the cancel arrived. Raises the context's error if it had failed.
        """
        if not self.over and not self.outbox.cancelled:
            self._halt_feeding()
            self.outbox.cancel(played_ms)
            self.inbox.drop_packets()
            await self._wire.post(self)
        await self._over.wait()
        return self._ending()

    async def played(self, pts_ms: float) -> None:
        """Report how much has been heard; makes pacing and ``Cancelled.text_spoken`` exact."""
        if not self.over:
            await self._wire.tell({"type": "played", "ctx": self.id, "pts_ms": pts_ms})

    async def opened(self) -> Opened:
        """Wait until the server accepted it; raises why it did not."""
        while self._opened is None and not self.over:
            self._progress.clear()
            await self._progress.wait()
        if self._opened is None:
            self._ending()
            raise ContextFailed("it ended before it was opened", ctx=self.id)
        return self._opened

    async def wait(self) -> Done:
        """Wait for the end. Takes no packets: they stay to be iterated over.

        Raises the context's error, MessageRefused, or ContextFailed with the code ``cancelled``.
        """
        while not self.over:
            self.inbox.raise_refusal()
            self._progress.clear()
            await self._progress.wait()
        ending = self._ending()
        if isinstance(ending, Cancelled):
            raise ContextFailed("it was cancelled", code="cancelled", ctx=self.id)
        return ending

    def stats(self) -> Stats:
        """What has been measured so far; complete after the end."""
        return self._meter.stats(self._closing if isinstance(self._closing, Done) else None)

    def __aiter__(self) -> AsyncIterator[Packet]:
        return Packets(self.inbox)

    def events(self) -> AsyncIterator[ContextEvent]:
        """Packets and everything else in order, to ``Done`` or ``Cancelled``, that included."""
        return Events(self.inbox)

    # What the client tells it -------------------------------------------------------------

    def accept(self, event: ContextEvent) -> None:
        """Something came for it."""
        if isinstance(event, Packet):
            if self.outbox.cancelled:
                return
            self._meter.packet(event.payload, time.perf_counter())
        elif isinstance(event, Flushed):
            if not self.outbox.flushed(event.id):
                return  # the answer to a flush that was sent twice over a resume
        elif isinstance(event, SegmentEvent):
            self._meter.segment(event)
            self.outbox.spoken_to(event.char_end)
        elif isinstance(event, Opened):
            self._opened = event
            self.outbox.opened()
            self._progress.set()
        elif isinstance(event, Cancelled):
            self.inbox.drop_packets()
        self.inbox.put(event)
        if isinstance(event, Done | Cancelled):
            self._finish(event)

    def refuse(self, error: CosystreamError) -> None:
        """A message of its was refused; it goes on."""
        if self._text_refused is not None and error.code in {"text_gap", *_TEXT_STOPPERS}:
            return  # deltas that were on their way behind the refused one
        if error.code in _TEXT_STOPPERS:
            self._text_refused = error
        self.inbox.refuse(error)
        self._progress.set()

    def fail(self, error: Exception) -> None:
        """It has ended by an error; what came before can still be read."""
        self._finish(error)

    def abandon(self, error: Exception, *, drop: bool = False) -> None:
        """End it from this side: its reader gets ``error``, the server a cancel (to be posted).

        With ``drop`` what waits to be read is thrown away, and its memory freed.
        """
        if self.over:
            return
        if drop:
            self.inbox.discard()
        self._finish(error)
        if not self.outbox.cancelled:
            self.outbox.cancel(None)

    async def stop_feeding(self) -> None:
        """Wait until its feeder, if there is one, has let go of its source."""
        if self._feeding is not None and self._feeding is not asyncio.current_task():
            self._feeding.cancel()
            await asyncio.wait([self._feeding])

    async def _feed(self, source: AsyncIterable[str]) -> None:
        try:
            async for delta in source:
                await self.send(delta)
            await self.end()
        except Exception as error:  # noqa: BLE001 - whatever it raises is for the reader to see
            self.abandon(error)
            await self._wire.post(self)
        finally:
            if isinstance(source, AsyncGenerator):
                await source.aclose()

    def _finish(self, ending: Cancelled | Done | Exception) -> None:
        if self.over:
            return
        self._closing = ending
        self.inbox.end(ending if isinstance(ending, Exception) else None)
        self._over.set()
        self._progress.set()
        self._halt_feeding()

    def _halt_feeding(self) -> None:
        if self._feeding is not None and self._feeding is not asyncio.current_task():
            self._feeding.cancel()

    def _ending(self) -> Cancelled | Done:
        if isinstance(self._closing, Exception):
            raise self._closing
        assert self._closing is not None
        return self._closing

    def _check_writable(self) -> None:
        self.inbox.raise_refusal()
        if self.over:
            self._ending()
            raise MessageRefused("it has ended", code="context_gone", status=410, ctx=self.id)
        if self.outbox.cancelled:
            raise MessageRefused("it was cancelled", code="context_gone", status=410, ctx=self.id)
        if self.outbox.ended:
            raise MessageRefused("text after end", code="context_ended", status=409, ctx=self.id)


def _check_unicode(delta: str) -> None:
    try:
        delta.encode()
    except UnicodeEncodeError as wrong:
        raise ValueError(f"not Unicode text at character {wrong.start}: {wrong.reason}") from wrong
