"""One WebSocket of the native protocol: from the handshake to the close.

Knows: the order of things on a connection, and which close code goes with which error. Does not
know: what a hello may ask for, what a session does with a request, or how bytes leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import structlog
from starlette.websockets import WebSocket

from server import hellos, requests
from server.access import Identity
from server.events import Event, Pong, Ready, Warn, error_event
from server.outbox import MAX_BUFFERED_BYTES
from server.protocols import native
from server.session import Session
from server.sessions import Sessions
from server.transport import EXTENSION, Wire
from streaming.audio.packetizer import Packet
from streaming.errors import (
    BadRequest,
    BadState,
    BadSubprotocol,
    CosystreamError,
    ForbiddenOrigin,
    GoingAway,
    IdleTimeout,
    Internal,
    ResumedElsewhere,
    ResumeUnknown,
    SlowConsumer,
    TooManySessions,
    Unauthorized,
)

log = structlog.get_logger(__name__)

CLOSE_CODES: Final[Mapping[type[CosystreamError], int]] = MappingProxyType(
    {
        Unauthorized: 1008,
        ForbiddenOrigin: 1008,
        TooManySessions: 1013,
        GoingAway: 1001,
        BadSubprotocol: 4000,
        IdleTimeout: 4008,
        SlowConsumer: 4009,
        ResumedElsewhere: 4010,
    }
)
"""``docs/protocol.md`` section 10; one that is not here and ends a connection is ``INTERNAL``."""

INTERNAL = 1011
"""A fault of ours."""

LOST = 1006
"""What a connection that ended without a close frame is told as, though it never travels."""


def close_code(error: CosystreamError) -> int:
    """The close code for an error that ends the connection."""
    return CLOSE_CODES.get(type(error), INTERNAL)


class NativeAdapter:
    """How a session's events and packets are written in the native protocol."""

    def __init__(self, framing: str) -> None:
        self.framing = framing
        self._frame = native.framing(framing)

    def event(self, event: Event) -> bytes:
        """A JSON text message."""
        return native.encode_event(event)

    def packet(self, packet: Packet, sid: int, seq: int) -> bytes:
        """A binary message in the framing that was asked for."""
        return self._frame(packet, sid, seq)

    def resent(self, data: bytes) -> bytes:
        """The same, marked as sent again."""
        return native.mark_resumed(data, self.framing)

    def close_code(self, error: CosystreamError) -> int:
        """The close code for an error that ends the connection."""
        return close_code(error)


class Connection:
    """Receives, and hands each request to the session."""

    def __init__(self, websocket: WebSocket, sessions: Sessions) -> None:
        self._websocket = websocket
        self._sessions = sessions
        self._settings = sessions.services.settings
        self._session: Session | None = None
        self._identity: Identity | None = None
        self._wire: Wire = websocket.scope["extensions"][EXTENSION]

    async def serve(self) -> None:
        """Until the connection ends, on whatever path."""
        offered: list[str] = self._websocket.scope["subprotocols"]
        chosen = native.SUBPROTOCOL if native.SUBPROTOCOL in offered else next(iter(offered), None)
        # A browser reads nothing from a handshake that is refused, nor from one that answers with
        # no subprotocol: so a refusal, too, comes after accepting with one the client knows.
        await self._websocket.accept(subprotocol=chosen)
        try:
            _require_subprotocol(offered)
            self._identity = self._identify(offered)
            closed = await self._receive()
        except CosystreamError as error:
            self._refuse(error)
        except asyncio.CancelledError:
            self._end_session("server stopped")
            raise
        except Exception as fault:  # the one place where a fault of ours becomes a wire error
            log.exception("connection failed")
            self._refuse(Internal(f"a fault of the server: {type(fault).__name__}"))
        else:
            self._ended(closed)

    def _identify(self, offered: list[str]) -> Identity:
        headers = self._websocket.headers
        token = next((name for name in offered if name.startswith(native.TOKEN_SUBPROTOCOL)), "")
        return self._sessions.services.access.identify(
            authorization=headers.get("authorization"),
            token=token.removeprefix(native.TOKEN_SUBPROTOCOL)
            or self._websocket.query_params.get("token"),
            origin=headers.get("origin"),
            host=headers.get("host", ""),
            resuming=True,  # whether it may is known when the hello has come: see `spend`
        )

    async def _receive(self) -> int:
        """Carry out messages until the connection ends; its close code."""
        key = f"connection-{id(self)}"
        limiter = self._sessions.services.access.messages
        try:
            while True:
                message = await self._next_message()
                if message["type"] == "websocket.disconnect":
                    return int(message.get("code") or 1005)
                wait_s = limiter.take(key)
                if wait_s > 0:
                    await asyncio.sleep(wait_s)
                if self._session is not None and not self._session.is_linked(self._wire):
                    return LOST  # it has ended, or is served elsewhere: what still came is void
                self._handle(message)
        finally:
            limiter.forget(key)

    async def _next_message(self) -> Mapping[str, Any]:
        if self._session is not None:
            return await self._websocket.receive()  # it watches for idling by itself
        idle_s = self._settings.limits.idle_s
        try:
            async with asyncio.timeout(idle_s):
                return await self._websocket.receive()
        except TimeoutError:
            raise IdleTimeout(f"nothing was asked for {idle_s:g} s; connect when needed") from None

    def _handle(self, message: Mapping[str, Any]) -> None:
        ctx: str | None = None
        try:
            text = message.get("text")
            if text is None:
                raise BadRequest("a binary message: clients send JSON text messages alone")
            content = native.decode(text)
            ctx = native.ctx_of(content)
            self._carry_out(*native.request_of(content))
        except CosystreamError as error:
            if type(error) in CLOSE_CODES and (self._session is None or error.code != "going_away"):
                raise
            self._tell_refusal(error, ctx)

    def _carry_out(self, request: requests.Request, warnings: list[Warn]) -> None:
        if self._session is None:
            hello = request if isinstance(request, requests.Hello) else requests.Hello()
            self._session = self._begin(hello)
        elif isinstance(request, requests.Hello):
            raise BadState("a second hello: the session's settings stay as they are")
        for warning in warnings:
            self._session.tell(warning)
        if isinstance(request, requests.Ping):
            self._session.handle(request)
            self._session.tell(Pong(id=request.id))
        elif not isinstance(request, requests.Hello):
            self._session.handle(request)

    def _tell_refusal(self, error: CosystreamError, ctx: str | None) -> None:
        if self._session is None:
            self._wire.write_text(native.encode_event(error_event(error)))
            self._sessions.services.metrics.error(error.code)
            if self._wire.buffered_bytes > MAX_BUFFERED_BYTES:
                self._wire.abort(CLOSE_CODES[SlowConsumer], SlowConsumer.code)
        else:
            self._session.refuse(error, ctx)

    # --- hello ------------------------------------------------------------------------------

    def _begin(self, hello: requests.Hello) -> Session:
        assert self._identity is not None
        hellos.require_version(hello)
        if hello.resume is not None:
            try:
                return self._resume(hello.resume)
            except ResumeUnknown as error:
                self._wire.write_text(native.encode_event(error_event(error)))
        terms = hellos.terms(hello, self._identity, self._settings)
        session = self._sessions.begin(terms, NativeAdapter(hello.audio.framing))
        self._session = session
        session.attach(self._wire)
        session.tell(self._ready(session, resumed=False))
        peer = self._websocket.client
        session.log.info(
            "session began",
            codec=terms.audio.codec,
            peer=peer.host if peer else None,
            traceparent=hello.traceparent,
        )
        return session

    def _resume(self, asked: requests.ResumeRequest) -> Session:
        assert self._identity is not None
        session = self._sessions.find(asked.session, asked.token, asked.last_seq, self._identity)
        if session.connected:
            session.taken_over(
                ResumedElsewhere("the session went on over a newer connection of its client")
            )
        self._wire.write_text(native.encode_event(self._ready(session, resumed=True)))
        session.resume(self._wire, asked.last_seq)
        return session

    def _ready(self, session: Session, *, resumed: bool) -> Ready:
        info = self._sessions.services.engine.info
        limits = self._sessions.limits_told(session.terms.identity)
        return hellos.answer(session, info, limits, resumed=resumed)

    # --- the end ----------------------------------------------------------------------------

    def _ended(self, code: int) -> None:
        """The connection is over: a loss parks the session, a close frame ends it."""
        session = self._session
        if session is None or not session.is_linked(self._wire):
            return
        if code == LOST:
            session.lost()
        else:
            session.close(f"client closed with {code}")

    def _end_session(self, why: str) -> None:
        if self._session is not None and self._session.is_linked(self._wire):
            self._session.close(why)

    def _refuse(self, error: CosystreamError) -> None:
        """The one way in which an error ends a connection."""
        log.info("connection refused", code=error.code, message=error.message)
        if self._session is not None:
            self._session.fail(error)
            return
        self._sessions.services.metrics.error(error.code)
        self._wire.write_text(native.encode_event(error_event(error, fatal=True)))
        self._wire.close(close_code(error), error.code)


def _require_subprotocol(offered: list[str]) -> None:
    if offered and native.SUBPROTOCOL not in offered:
        raise BadSubprotocol(
            f"none of the subprotocols {', '.join(offered)[:200]} is known; "
            f"offer {native.SUBPROTOCOL}, or none"
        )
