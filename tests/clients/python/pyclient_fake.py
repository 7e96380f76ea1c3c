"""A server for faults: speaks docs/protocol.md in one process and breaks where it is told.

It makes "audio" at once: ``PACKETS`` packets a segment, each payload unlike any other, so that a
lost or repeated one shows. A segment is what a flush or end lets go.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

HEADER = struct.Struct(">BBHIQ")
PACKETS = 3
FRAME_MS = 20
RATE = 8000
PACKET_BYTES = RATE * FRAME_MS // 1000

Message = dict[str, Any]
Hook = Callable[["FakeSession", Message], Awaitable[bool]]


@dataclass
class FakeContext:
    """One context's text and how far it has been spoken."""

    ctx: str
    sid: int
    text: str = ""
    spoken: int = 0
    text_seq: int = 0
    segments: int = 0
    packets: int = 0
    ended: bool = False


@dataclass
class FakeSession:
    """What outlives a connection: contexts and all that was ever sent."""

    server: FakeServer
    id: str
    link: ServerConnection | None = None
    hello: Message = field(default_factory=dict)
    contexts: dict[str, FakeContext] = field(default_factory=dict)
    sent: list[tuple[int, str | bytes]] = field(default_factory=list)
    sids: Any = field(default_factory=lambda: itertools.count(1))

    async def event(self, **fields: Any) -> None:
        seq = len(self.sent) + 1
        await self._push(seq, json.dumps({**fields, "seq": seq}))

    async def audio(self, context: FakeContext, payload: bytes, flags: int = 0) -> None:
        seq = len(self.sent) + 1
        pts = context.packets * FRAME_MS * 48
        flags |= 1 if context.packets == 0 else 0
        context.packets += 1
        await self._push(seq, HEADER.pack(0x11, flags, context.sid, seq, pts) + payload)

    async def plain(self, **fields: Any) -> None:
        if self.link is not None:
            await self.server.send(self.link, json.dumps(fields))

    async def error(self, code: str, *, ctx: str | None = None, fatal: bool = False) -> None:
        fields = {"code": code, "message": f"because of {code}", "status": 400}
        fields |= {"retryable": code == "engine_restarted", "retry_after_ms": None, "fatal": fatal}
        if ctx is None:
            await self.plain(type="error", **fields)
        else:
            await self.event(type="error", ctx=ctx, **fields)
            if fatal:
                self.contexts.pop(ctx, None)

    async def speak(self, context: FakeContext, *, last: bool = False) -> None:
        text = context.text[context.spoken :]
        if not text:
            return
        start, end = context.spoken, len(context.text)
        fields = {"index": context.segments, "text": text, "char_start": start, "char_end": end}
        await self.event(
            type="segment", ctx=context.ctx, pts_ms=context.packets * FRAME_MS, **fields
        )
        context.spoken = end
        context.segments += 1
        for number in range(PACKETS):
            flags = 2 if last and number == PACKETS - 1 else 0
            await self.audio(context, payload_of(context, context.packets), flags)

    async def done(self, context: FakeContext) -> None:
        self.contexts.pop(context.ctx, None)
        samples = context.packets * FRAME_MS * 24
        await self.event(
            type="done",
            ctx=context.ctx,
            reason="completed",
            audio_ms=samples / 24,
            samples=samples,
            first_packet_ms=7.0,
            first_delta_to_packet_ms=9.0,
            ttfa_ms=12.0,
            rtf=0.01,
            last_seq=len(self.sent),
            metadata=self.hello.get("metadata"),
        )

    async def _push(self, seq: int, data: str | bytes) -> None:
        self.sent.append((seq, data))
        if self.link is not None:
            await self.server.send(self.link, data)


def payload_of(context: FakeContext, number: int) -> bytes:
    """The mu-law "audio" of a context's n-th packet."""
    return struct.pack(">HH", context.sid, number).ljust(PACKET_BYTES, b"\xff")


async def until(condition: Callable[[], object]) -> None:
    """Wait for what another process or task is about to bring about."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - a process sets no event of ours
            await asyncio.sleep(0.005)


class FakeServer:
    """``drops_sent`` and ``drops_received``: numbers of messages at which the connection breaks.

    A sent message still leaves; a received one is lost. ``hooks`` take the place of what the
    server does with a message type where they return True.
    """

    def __init__(
        self,
        *,
        drops_sent: tuple[int, ...] = (),
        drops_received: tuple[int, ...] = (),
        hooks: dict[str, Hook] | None = None,
        resume_window_s: float = 5.0,
    ) -> None:
        self.drops_sent = set(drops_sent)
        self.drops_received = set(drops_received)
        self.hooks = hooks or {}
        self.resume_window_s = resume_window_s
        self.sent = 0
        self.received: list[Message] = []
        self.connections: list[ServerConnection] = []
        self.sessions: dict[str, FakeSession] = {}
        self.forget_sessions = False
        self.refuse: str | None = None
        self.refuse_before_hello = False
        self.close_codes: list[int | None] = []

    async def __aenter__(self) -> Self:
        self._serving = await serve(
            self._serve, "127.0.0.1", 0, compression=None, select_subprotocol=_subprotocol
        )
        self.port = self._serving.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._serving.close()
        await self._serving.wait_closed()

    async def stop_listening(self) -> None:
        """Nobody can connect any more, and who was is cut off."""
        self._serving.close(close_connections=False)
        for connection in self.connections:
            connection.transport.abort()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def session(self) -> FakeSession:
        """The latest one."""
        return list(self.sessions.values())[-1]

    def messages(self, kind: str) -> list[Message]:
        return [message for message in self.received if message["type"] == kind]

    async def send(self, connection: ServerConnection, data: str | bytes) -> None:
        try:
            await connection.send(data)
        except ConnectionClosed:
            return
        self.sent += 1
        if self.sent in self.drops_sent:
            connection.transport.abort()

    async def _serve(self, connection: ServerConnection) -> None:
        self.connections.append(connection)
        session: FakeSession | None = None
        if self.refuse_before_hello:
            await self._turn_away(connection)
            return
        try:
            async for raw in connection:
                message = json.loads(raw)
                self.received.append(message)
                if len(self.received) in self.drops_received:
                    connection.transport.abort()
                    break
                if session is None:
                    session = await self._begin(connection, message)
                    if session is None:
                        return
                else:
                    await self._handle(session, message)
        except ConnectionClosed:
            pass
        finally:
            self.close_codes.append(connection.close_code)
            if session is not None and session.link is connection:
                session.link = None

    async def _begin(self, connection: ServerConnection, hello: Message) -> FakeSession | None:
        if self.refuse:
            await self._turn_away(connection)
            return None
        resume = hello.get("resume")
        old = self.sessions.get(resume["session"]) if resume else None
        if resume and (old is None or self.forget_sessions):
            error = {"type": "error", "code": "resume_unknown", "message": "?", "fatal": False}
            await self.send(connection, json.dumps(error))
            old = None
        session = old or FakeSession(self, f"s-{len(self.sessions) + 1}", hello=hello)
        self.sessions[session.id] = session
        session.link = connection
        await self.send(connection, json.dumps(self._ready(session, resumed=old is not None)))
        if old is not None:
            for seq, data in list(old.sent):
                if seq > resume["last_seq"]:
                    await self.send(connection, _again(data))
        return session

    async def _turn_away(self, connection: ServerConnection) -> None:
        fatal = {"code": self.refuse, "message": "go away", "status": 401, "fatal": True}
        await self.send(connection, json.dumps({"type": "error", **fatal}))
        await connection.close(CloseCode.POLICY_VIOLATION)

    def _ready(self, session: FakeSession, *, resumed: bool) -> Message:
        audio = {"codec": "mulaw", "rate": RATE, "channels": 1, "frame_ms": FRAME_MS}
        ready = {
            "type": "ready",
            "session": session.id,
            "resume_token": "secret",
            "resumed": resumed,
            "protocol": 1,
            "server": "fake",
            "engine": "fake",
            "default_voice": "v",
            "audio": {**audio, "bitrate": None, "framing": "header", "pre_skip": 0},
            "pacing": {"lead_ms": None},
            "limits": {"resume_window_s": self.resume_window_s},
        }
        if resumed:
            ready["contexts"] = [
                {"ctx": c.ctx, "sid": c.sid, "state": "speaking", "text_seq": c.text_seq}
                for c in session.contexts.values()
            ]
        return ready

    async def _handle(self, session: FakeSession, message: Message) -> None:
        hook = self.hooks.get(message["type"])
        if hook is not None and await hook(session, message):
            return
        if message["type"] == "ping":
            await session.plain(type="pong", id=message["id"])
            return
        ctx = message["ctx"]
        if message["type"] == "open":
            session.contexts[ctx] = FakeContext(ctx, next(session.sids))
            await session.event(type="opened", ctx=ctx, sid=session.contexts[ctx].sid, voice="v")
            return
        context = session.contexts.get(ctx)
        if context is not None:
            await self._tell(session, context, message)
        elif message["type"] == "cancel":
            await session.event(type="warning", code="not_active", message="late", ctx=ctx)
        else:
            await session.error("context_gone", ctx=ctx)

    async def _tell(self, session: FakeSession, context: FakeContext, message: Message) -> None:
        kind = message["type"]
        if kind == "cancel":
            del session.contexts[context.ctx]
            await session.event(
                type="cancelled",
                ctx=context.ctx,
                audio_sent_ms=context.packets * FRAME_MS,
                played_ms=message.get("played_ms", 0),
                text_spoken=context.text[: context.spoken],
                text_remaining=context.text[context.spoken :],
                source="clock",
            )
        elif context.ended:
            await session.error("context_ended", ctx=context.ctx)
        elif kind == "text":
            if message["seq"] > context.text_seq + 1:
                await session.error("text_gap", ctx=context.ctx)
            elif message["seq"] == context.text_seq + 1:
                context.text_seq += 1
                context.text += message["delta"]
        elif kind == "flush":
            await session.speak(context)
            pts_ms = context.packets * FRAME_MS
            await session.event(type="flushed", ctx=context.ctx, id=message["id"], pts_ms=pts_ms)
        elif kind == "end":
            context.ended = True
            await session.speak(context, last=True)
            await session.done(context)


def _again(data: str | bytes) -> str | bytes:
    return data if isinstance(data, str) else data[:1] + bytes([data[1] | 16]) + data[2:]


def _subprotocol(_connection: ServerConnection, offered: list[str]) -> str | None:
    return "cosystream.v1" if "cosystream.v1" in offered else None
