"""A small server of the native protocol with faults on demand, for what a real one cannot be asked.

It serves the page, the client and the test harness, and speaks tones. Knows: hello, resume, open,
text, flush, end, cancel, played, ping. Does not know: limits, codecs but Opus and 48 kHz PCM.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import mimetypes
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

import numpy as np
from fake_speech import PRE_SKIP, RATE, Context, error, packet
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from server.pages import POLICY

ROOT = Path(__file__).resolve().parents[2]
LEAD_MS = 400
TONE = {"id": "tone", "name": "Tone", "languages": ["en"], "description": "", "preview": False}
KLANG = {**TONE, "id": "klang", "name": "Klang", "languages": ["en", "zh"]}
VOICES = {"voices": [TONE, KLANG], "default": "tone", "cloning": False}


@dataclass
class Faults:
    """What goes wrong, and when; a test changes it while the server runs.

    Packets are counted over the session; what happens after one of them happens once.
    """

    connect_delay_s: float = 0.0
    drop_after_packets: int | None = None
    """The TCP connection breaks."""
    forget_sessions: bool = False
    """A resume finds nothing: the server was started again."""
    send_twice: bool = False
    skip_one_after: int | None = None
    """The packet is not sent."""
    stall_after_packets: int | None = None
    """No packet follows for ``stall_s``."""
    stall_s: float = 0.0
    token: str | None = None
    """Who does not bring it is unauthorized."""
    refuse_text: str | None = None
    """A context whose text holds this fails with ``unsupported_language``."""
    fail_after_packets: int | None = None
    """The context fails with ``engine_restarted``."""
    loading: bool = False
    """The model is being loaded: voices and contexts are refused."""
    obeys: tuple[str, ...] = ("speed", "seed")
    """What the voices obey, as ``GET /v1/voices`` has it."""

    def take(self, name: str, packets: int) -> bool:
        """Whether that fault is due after so many packets; then it is over."""
        due = getattr(self, name) == packets
        if due:
            setattr(self, name, None)
        return due


@dataclass
class Session:
    """What one client has with the server, over its connections."""

    name: str
    codec: str
    socket: ServerConnection | None = None
    seq: int = 0
    log: list[tuple[int, str | bytes]] = field(default_factory=list)
    contexts: dict[str, Context] = field(default_factory=dict)
    sids: int = 0
    packets: int = 0
    played_ms: dict[str, float] = field(default_factory=dict)
    stalled_until: float = 0.0

    def ready(self, *, resumed: bool) -> dict:
        """The answer to its hello."""
        opus = self.codec == "opus"
        rate, pre_skip = (RATE, PRE_SKIP) if opus else (48_000, 0)
        audio = {"codec": self.codec, "rate": rate, "frame_ms": 80, "pre_skip": pre_skip}
        names = {"session": self.name, "resume_token": "t", "server": "fake", "engine": "tone"}
        ready = {"type": "ready", "resumed": resumed, "protocol": 1, "audio": audio, **names}
        contexts = [
            {"ctx": c.ctx, "sid": c.sid, "state": "speaking", "text_seq": c.text_seq}
            for c in self.contexts.values()
        ]
        more = {"contexts": contexts} if resumed else {}
        return {**ready, "default_voice": "tone", "limits": {"resume_window_s": 30}, **more}


class FakeServer:
    """Runs in a thread of its own; ``received`` holds every message of every client."""

    def __init__(self, prefix: str = "") -> None:
        self.faults = Faults()
        self.received: list[dict] = []
        self.prefix = prefix
        self.sessions: dict[str, Session] = {}
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._started = threading.Event()
        self._port = 0

    def start(self) -> FakeServer:
        self._thread.start()
        assert self._started.wait(10)
        return self

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self.prefix}"

    def of(self, kind: str) -> list[dict]:
        """The messages of that type that clients have sent."""
        return [message for message in self.received if message["type"] == kind]

    def drop(self) -> None:
        """Break every connection, without a close frame."""
        self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for session in self.sessions.values():
            if session.socket is not None:
                session.socket.transport.abort()

    async def _run(self) -> None:
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        transports: list[asyncio.BaseTransport] = []

        class Tracked(ServerConnection):
            """Browsers open connections in advance and ask nothing; those must end as well."""

            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                transports.append(transport)
                super().connection_made(transport)

        serving = serve(
            self._client,
            "127.0.0.1",
            0,
            create_connection=Tracked,
            process_request=self._http,
            subprotocols=["cosystream.v1"],
            compression=None,
            close_timeout=0.2,
        )
        async with serving as server:
            self._port = server.sockets[0].getsockname()[1]
            self._started.set()
            await self._stop.wait()
        while transports:
            for transport in transports:
                transport.abort()
            transports.clear()
            await asyncio.sleep(0.02)  # one that was accepted just now comes a moment later

    # --- HTTP -----------------------------------------------------------------------------

    async def _http(self, connection: ServerConnection, request: Request) -> Response | None:
        path = request.path.split("?")[0].removeprefix(self.prefix)
        if path == "/v1/stream":
            await asyncio.sleep(self.faults.connect_delay_s)
            return None
        if path == "/v1/voices":
            return self._voices()
        file = find(path)
        if file is None:
            return connection.respond(HTTPStatus.NOT_FOUND, f"nothing at {path}\n")
        return answer(file.read_bytes(), mimetypes.guess_type(file.name)[0] or "text/plain")

    def _voices(self) -> Response:
        told: dict = {**VOICES, "options": self.faults.obeys}
        if self.faults.loading:
            told = {"error": error("engine_loading", "the engine is loading", 503)}
        body = answer(json.dumps(told).encode(), "application/json")
        body.status_code = 503 if self.faults.loading else 200
        return body

    # --- the protocol ---------------------------------------------------------------------

    async def _client(self, socket: ServerConnection) -> None:
        if self.faults.token is not None and not self._authorized(socket):
            refusal = error("unauthorized", "no key, or a wrong one", 401, fatal=True)
            await socket.send(json.dumps(refusal))
            await socket.close(1008)
            return
        with contextlib.suppress(ConnectionClosed):
            hello = self._note(await socket.recv())
            session = await self._greet(socket, hello)
            pump = asyncio.create_task(self._pump(session, socket))
            try:
                async for text in socket:
                    await self._message(session, self._note(text))
            finally:
                pump.cancel()
                if session.socket is socket:
                    session.socket = None

    def _authorized(self, socket: ServerConnection) -> bool:
        assert socket.request is not None
        offered = socket.request.headers.get("Sec-WebSocket-Protocol", "") + socket.request.path
        return f"token.{self.faults.token}" in offered or f"token={self.faults.token}" in offered

    def _note(self, text: str | bytes) -> dict:
        message = json.loads(text)
        self.received.append(message)
        return message

    async def _greet(self, socket: ServerConnection, hello: dict) -> Session:
        resume = hello.get("resume")
        session = self.sessions.get(resume["session"]) if resume else None
        resumed = session is not None and not self.faults.forget_sessions
        if resume and not resumed:
            await socket.send(json.dumps(error("resume_unknown", "no such session", 404)))
        if session is None or not resumed:
            codec = hello.get("audio", {}).get("codec", "opus")
            session = Session(f"s-{len(self.sessions)}", codec)
            self.sessions[session.name] = session
        if session.socket is not None:
            await session.socket.close(4010)
        session.socket = socket
        await socket.send(json.dumps(session.ready(resumed=resumed)))
        if resumed:
            for seq, message in session.log:
                if seq > resume["last_seq"]:
                    await socket.send(message)
        return session

    async def _message(self, session: Session, message: dict) -> None:
        kind, ctx = message["type"], message.get("ctx")
        context = session.contexts.get(ctx)
        if kind == "ping":
            await self._raw(session, json.dumps({"type": "pong", "id": message.get("id", "")}))
        elif self.faults.loading and context is None and kind in {"open", "text", "end"}:
            code = "engine_loading" if kind == "open" else "unknown_context"
            await self._event(session, error(code, "not yet", 503, ctx=ctx))
        elif kind == "open":
            await self._open(session, ctx, message.get("max_delay_ms"))
        elif kind == "cancel" and context is not None:
            del session.contexts[ctx]
            await self._event(session, context.cancelled(message.get("played_ms", 0)))
        elif kind == "played" and context is not None:
            session.played_ms[ctx] = message["pts_ms"]
            if message["pts_ms"] > context.sent / RATE * 1000:
                await self._event(
                    session, {"type": "warning", "code": "played_clamped", "ctx": ctx}
                )
        elif context is not None:
            await self._text(session, context, message)

    async def _open(self, session: Session, ctx: str, max_delay_ms: int | None) -> None:
        session.sids += 1
        session.played_ms.pop(ctx, None)
        session.contexts[ctx] = Context(ctx, session.sids)
        if max_delay_ms is not None:
            self._release_later(session.contexts[ctx], max_delay_ms / 1000)
        opened = {"type": "opened", "ctx": ctx, "sid": session.sids, "voice": "tone"}
        await self._event(session, opened)

    def _release_later(self, context: Context, delay_s: float) -> None:
        context.release(everything=True)
        self._loop.call_later(delay_s, self._release_later, context, delay_s)

    async def _text(self, session: Session, context: Context, message: dict) -> None:
        if message["type"] == "text" and message["seq"] == context.text_seq + 1:
            context.text_seq += 1
            context.text += message["delta"]
        elif message["type"] == "end":
            context.ended = True
        if self.faults.refuse_text is not None and self.faults.refuse_text in context.text:
            del session.contexts[context.ctx]
            text = "the voice 'tone' speaks en; to add one that speaks zh: make voices"
            refusal = error("unsupported_language", text, 422, fatal=True, ctx=context.ctx)
            await self._event(session, refusal)
            return
        context.release(everything=message["type"] in {"end", "flush"})
        if message["type"] == "flush":
            context.flushes.append((message["id"], len(context.pcm)))

    async def _pump(self, session: Session, socket: ServerConnection) -> None:
        """Send the first context's next packet whenever it is due."""
        with contextlib.suppress(ConnectionClosed):
            while session.socket is socket:
                context = next(iter(session.contexts.values()), None)
                if context is None or not await self._step(session, context, socket):
                    await asyncio.sleep(0.005)

    async def _step(self, session: Session, context: Context, socket: ServerConnection) -> bool:
        ahead_ms = context.sent / RATE * 1000 - session.played_ms.get(context.ctx, 0)
        if self._loop.time() < session.stalled_until or ahead_ms > LEAD_MS:
            return False
        for event in context.flushed() + context.due():
            await self._event(session, event)
        chunk = context.chunk()
        if chunk is not None:
            await self._packet(session, context, chunk, socket)
        elif context.ended:
            del session.contexts[context.ctx]
            await self._event(session, context.done())
        return chunk is not None

    async def _packet(
        self, session: Session, context: Context, chunk: np.ndarray, socket: ServerConnection
    ) -> None:
        pts = (context.sent - len(chunk)) * 2
        session.seq += 1
        session.packets += 1
        flags = 1 if pts == 0 else 0
        payload = context.encode(session.codec, chunk)
        message = packet(flags, context.sid, session.seq, pts, payload)
        session.log.append((session.seq, message))
        if self.faults.take("drop_after_packets", session.packets):
            socket.transport.abort()
            return
        if not self.faults.take("skip_one_after", session.packets):
            await self._raw(session, message)
        if self.faults.take("stall_after_packets", session.packets):
            session.stalled_until = self._loop.time() + self.faults.stall_s
        if self.faults.take("fail_after_packets", session.packets):
            session.contexts.pop(context.ctx)
            text = "the engine was started again"
            about = {"fatal": True, "retryable": True, "ctx": context.ctx}
            await self._event(session, error("engine_restarted", text, 503, **about))

    async def _event(self, session: Session, event: dict) -> None:
        session.seq += 1
        text = json.dumps({**event, "seq": session.seq})
        session.log.append((session.seq, text))
        await self._raw(session, text)

    async def _raw(self, session: Session, message: str | bytes) -> None:
        for _ in range(2 if self.faults.send_twice else 1):
            if session.socket is not None:
                await session.socket.send(message)


def answer(body: bytes, kind: str) -> Response:
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": POLICY,
            "Cache-Control": "no-store",
            "Connection": "close",
        }
    )
    return Response(200, "OK", headers, body)


def find(path: str) -> Path | None:
    """The file that a path of the URL names: the client, the harness, or the page."""
    if path.endswith("/__recorder.js"):
        return ROOT / "tests/browser/recorder_worklet.js"
    folder = ROOT / "server/page"
    if path.startswith("/sdk/"):
        path, folder = path.removeprefix("/sdk"), ROOT / "clients/web/dist"
    elif path.startswith("/harness/"):
        path, folder = path.removeprefix("/harness"), ROOT / "tests/browser/harness"
    file = (folder / (path[1:] or "index.html")).resolve()
    return file if file.is_file() and file.is_relative_to(folder) else None
