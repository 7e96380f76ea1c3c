"""Keeps one session connected: begins it, reads it, resumes it when the connection breaks.

Knows: when to connect, and what the end of a connection means. Does not know: what messages mean
(``session``), how a connection is made (``link``).

One task reads the socket. It never waits for the reader of one context for longer than
``stall_s``: a context whose inbox stays full is cancelled, so that the others go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import ConnectionClosed

from cosystream.backoff import Backoff
from cosystream.context import Context
from cosystream.errors import (
    ClientClosed,
    ConnectionLost,
    ConsumerTooSlow,
    CosystreamError,
    ProtocolViolation,
    SessionEnded,
)
from cosystream.link import Access, Link, open_link
from cosystream.outbox import Message
from cosystream.session import Gap, Session

log = logging.getLogger("cosystream")

FINAL_CLOSE_CODES = frozenset({1000, 1001, 1007, 1008, 1009, 4000, 4008, 4009, 4010})
"""Closed on purpose: such a session cannot be resumed (docs/protocol.md section 10)."""

RESUME_WINDOW_S = 30.0
"""Where the server does not say."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to wait for what."""

    connect_s: float = 10.0
    stall_s: float = 2.0
    """For the reader of a full context, before it is cancelled."""
    backoff: Backoff = field(default_factory=Backoff)


class Connection:
    """The sending and receiving of one session after another (``context.Wire``)."""

    def __init__(self, access: Access, hello: Message, patience: Patience) -> None:
        self._access = access
        self._hello = hello
        self._patience = patience
        self._link: Link | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._helpers: set[asyncio.Task[None]] = set()
        self._change = asyncio.Event()
        self._connecting = asyncio.Lock()
        self._sending = asyncio.Lock()
        self._closed = False
        self._gap_after: int | None = None
        self.session: Session | None = None
        self.connect_ms: float | None = None
        """How long the last session took to set up, until ``ready``."""

    async def connected(self) -> Session:
        """A session to open contexts in: waits for a resume under way, else begins a new one.

        Raises ConnectionFailed, Refused or ClientClosed.
        """
        async with self._connecting:
            while self._link is None:
                if self._closed:
                    raise ClientClosed("the client was closed")
                if self._keeper is None or self._keeper.done():
                    await self._begin()
                else:
                    await self._change.wait()
        assert self.session is not None
        return self.session

    async def post(self, context: Context) -> None:
        """Send what the context's outbox holds; waits where the session is being resumed."""
        while context.outbox.pending and self._knows(context):
            if self._link is None:
                await self._change.wait()
            else:
                await self._pump(context, self._link)

    async def tell(self, message: Message) -> None:
        """Send a message that is of no use later, if there is a connection."""
        link = self._link
        if link is not None:
            with contextlib.suppress(ConnectionClosed):  # the keeper finds out by itself
                await link.send(message)

    async def close(self) -> None:
        """Close with 1000; contexts that are still open fail with ClientClosed."""
        self._closed = True
        session = self.session
        for context in [] if session is None else list(session.contexts.values()):
            await context.stop_feeding()
        link = self._link
        await self._stop_tasks()
        if session is not None:
            session.fail_all(ClientClosed("the client was closed"))
        self._lose(self._link)
        if link is not None:
            await link.close()

    async def _begin(self) -> None:
        start_s = time.perf_counter()
        link = await open_link(self._access, self._hello, self._patience.connect_s)
        if self._closed:
            await link.close()
            raise ClientClosed("the client was closed")
        self.connect_ms = (time.perf_counter() - start_s) * 1000
        self.session = Session(link.ready)
        self._gain(link)
        self._keeper = asyncio.create_task(self._keep(link), name="cosystream keeper")

    async def _keep(self, link: Link | None) -> None:
        try:
            while link is not None:
                ending = await self._read(link)
                self._lose(link)
                link.socket.transport.abort()
                if ending is not None:
                    self._fail_all(ending)
                    return
                link = await self._resume()
        finally:  # whatever ended the keeper, nobody may wait for what cannot come
            self._lose(self._link)
            self._fail_all(ClientClosed("the client was closed"))

    async def _read(self, link: Link) -> CosystreamError | None:
        """Read to the end; says why it is final, or None where the session may be resumed."""
        assert self.session is not None
        session = self.session
        try:
            while True:
                context = session.take(await link.receive())
                if session.behind:
                    session.behind = False
                    self._spawn(self._catch_up(session, link))
                if context is not None and context.inbox.full:
                    await self._make_room(context)
        except ConnectionClosed as closed:
            return _final(session, closed)
        except Gap as gap:
            if self._gap_after == session.last_seq:
                return ProtocolViolation(f"{gap}, again after a resume")
            self._gap_after = session.last_seq
            log.warning("%s: asking for what is missing", gap)
        except ProtocolViolation as violation:
            return violation
        return None

    async def _resume(self) -> Link | None:
        """Connect again within the resume window; None where that was in vain."""
        assert self.session is not None
        session, loop = self.session, asyncio.get_running_loop()
        window_s = float(session.ready.limits.get("resume_window_s") or RESUME_WINDOW_S)
        deadline_s = loop.time() + window_s
        last: CosystreamError | None = None
        for wait_s in self._patience.backoff.waits_s():
            left_s = deadline_s - loop.time() - wait_s
            if left_s <= 0:
                break
            await asyncio.sleep(wait_s)
            try:
                timeout_s = min(left_s, self._patience.connect_s)
                link = await open_link(
                    self._access, {**self._hello, "resume": session.resume_request()}, timeout_s
                )
            except CosystreamError as failed:
                last = failed
                if not failed.retryable:
                    break
            else:
                return self._take_up(session, link)
        self._fail_all(_not_resumed(last, window_s))
        return None

    def _take_up(self, session: Session, link: Link) -> Link:
        if link.ready.resumed:
            session.resumed(link.ready)
            self._gain(link)
            self._spawn(self._catch_up(session, link, ask=True))
        else:
            self._fail_all(
                ConnectionLost("the connection broke and the server no longer has the session")
            )
            self.session = Session(link.ready)
            self._gain(link)
        return link

    async def _catch_up(self, session: Session, link: Link, *, ask: bool = False) -> None:
        """Send what the server has not got; ``ask`` first for a sign that it has sent its part."""
        if ask:
            await self.tell({"type": "ping", "id": session.resync_id})
        for context in list(session.contexts.values()):
            await self._pump(context, link)

    async def _pump(self, context: Context, link: Link) -> None:
        async with self._sending:
            try:
                while link is self._link and (message := context.outbox.take()) is not None:
                    await link.send(message)
            except ConnectionClosed:
                # The keeper finds out by itself; what got lost is rewound when it resumes.
                self._lose(link)

    async def _make_room(self, context: Context) -> None:
        try:
            async with asyncio.timeout(self._patience.stall_s):
                await context.inbox.room()
        except TimeoutError:
            error = ConsumerTooSlow(
                "its buffer is full and nobody took a packet for"
                f" {self._patience.stall_s:g} s: it was cancelled, so that others go on",
                ctx=context.id,
            )
            context.abandon(error, drop=True)
            self._spawn(self.post(context))

    def _knows(self, context: Context) -> bool:
        return self.session is not None and self.session.contexts.get(context.id) is context

    def _fail_all(self, error: CosystreamError) -> None:
        if self.session is not None:
            self.session.fail_all(error)
        self._pulse()

    def _gain(self, link: Link) -> None:
        self._link = link
        self._pulse()

    def _lose(self, link: Link | None) -> None:
        if link is self._link:
            self._link = None
        self._pulse()

    def _pulse(self) -> None:
        """Wake everyone who waits for the connection to change."""
        self._change.set()
        self._change.clear()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._helpers.add(task)
        task.add_done_callback(self._helpers.discard)

    async def _stop_tasks(self) -> None:
        tasks = [*self._helpers, *([self._keeper] if self._keeper else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _final(session: Session, closed: ConnectionClosed) -> CosystreamError | None:
    if session.farewell is not None:
        return session.farewell
    if closed.rcvd is not None and closed.rcvd.code in FINAL_CLOSE_CODES:
        return SessionEnded(f"the server closed the session ({closed.rcvd})")
    return None


def _not_resumed(last: CosystreamError | None, window_s: float) -> CosystreamError:
    if last is not None and not last.retryable:
        return last
    why = "" if last is None else f"; the last attempt: {last.message}"
    return ConnectionLost(f"the connection broke and could not be resumed in {window_s:g} s{why}")
