"""A small server of the native protocol with faults on demand, for what a real one cannot be asked.

It serves the page, the client and the test harness, and speaks tones: the text ``"660Hz"`` is a tone of
that pitch, 60 ms a character. Knows: hello, resume, open, text, flush, end, cancel, played, ping.
Does not know: limits, other codecs than Opus and 48 kHz PCM.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import mimetypes
import re
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

import numpy as np
from opuslib_next import Encoder
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

ROOT = Path(__file__).resolve().parents[2]
RATE = 24_000
CHUNK = 1920
MS_A_CHAR = 60
PRE_SKIP = 312
LEAD_MS = 400
VOICES = {
    "voices": [
        {"id": "tone", "name": "Tone", "languages": ["en"], "description": "", "preview": False},
        {"id": "klang", "name": "Klang", "languages": ["en", "zh"], "description": "", "preview": False},
    ],
    "default": "tone",
}
CSP = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ws: wss:; "
    "base-uri 'none'; frame-ancestors 'none'; object-src 'none'"
)


@dataclass
class Faults:
    """What goes wrong, and when; a test changes it while the server runs."""

    connect_delay_s: float = 0.0
    drop_after_packets: int | None = None
    """Once: the TCP connection breaks after so many packets of the session."""
    forget_sessions: bool = False
    """A resume finds nothing: the server was started again."""
    send_twice: bool = False
    skip_one_after: int | None = None
    """Once: the packet of this number in the session is not sent."""
    stall_after_packets: int | None = None
    """Once: after so many packets of the session, none for ``stall_s``."""
    stall_s: float = 0.0
    token: str | None = None
    """Who does not bring it is unauthorized."""
    refuse_text: str | None = None
    """A context whose text holds this fails with ``unsupported_language``."""
    fail_after_packets: int | None = None
    """Once: the context fails with ``engine_restarted``."""


@dataclass
class Context:
    ctx: str
    sid: int
    text: str = ""
    text_seq: int = 0
    released: int = 0
    """Characters that have become audio."""
    ended: bool = False
    segments: int = 0
    pcm: list[np.ndarray] = field(default_factory=list)
    samples: int = 0
    sent: int = 0
    phase: float = 0.0
    flushes: list[tuple[str, int]] = field(default_factory=list)
    marks: list[tuple[int, dict]] = field(default_factory=list)
    """Events, and the sample before which each is sent."""
    encoder: Encoder = field(default_factory=lambda: Encoder(RATE, 1, "audio"))


@dataclass
class Session:
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
        serving = serve(
            self._client,
            "127.0.0.1",
            0,
            process_request=self._http,
            subprotocols=["cosystream.v1"],
            compression=None,
            close_timeout=0.2,
        )
        async with serving as server:
            self._port = server.sockets[0].getsockname()[1]
            self._started.set()
            await self._stop.wait()

    # --- HTTP -----------------------------------------------------------------------------

    async def _http(self, connection: ServerConnection, request: Request) -> Response | None:
        path = request.path.split("?")[0].removeprefix(self.prefix)
        if path == "/v1/stream":
            await asyncio.sleep(self.faults.connect_delay_s)
            connection.request_path = request.path
            return None
        if path == "/v1/voices":
            return answer(json.dumps(VOICES).encode(), "application/json")
        file = find(path)
        if file is None:
            return connection.respond(HTTPStatus.NOT_FOUND, f"nothing at {path}\n")
        return answer(file.read_bytes(), mimetypes.guess_type(file.name)[0] or "text/plain")

    # --- the protocol ---------------------------------------------------------------------

    async def _client(self, socket: ServerConnection) -> None:
        if self.faults.token is not None and not self._authorized(socket):
            refusal = error("unauthorized", "no key, or a wrong one", status=401, fatal=True)
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
            await socket.send(json.dumps(error("resume_unknown", "no such session", status=404)))
        if session is None or not resumed:
            codec = hello.get("audio", {}).get("codec", "opus")
            session = Session(f"s-{len(self.sessions)}", codec)
            self.sessions[session.name] = session
        session.socket = socket
        await socket.send(json.dumps(self._ready(session, resumed=resumed)))
        if resumed:
            for seq, message in session.log:
                if seq > resume["last_seq"]:
                    await socket.send(message)
        return session

    def _ready(self, session: Session, *, resumed: bool) -> dict:
        contexts = [
            {"ctx": c.ctx, "sid": c.sid, "state": "speaking", "text_seq": c.text_seq}
            for c in session.contexts.values()
        ]
        opus = session.codec == "opus"
        return {
            "type": "ready",
            "session": session.name,
            "resume_token": "t",
            "resumed": resumed,
            "protocol": 1,
            "server": "fake",
            "engine": "tone",
            "default_voice": "tone",
            "audio": {
                "codec": session.codec,
                "rate": RATE if opus else 48_000,
                "frame_ms": 80,
                "pre_skip": PRE_SKIP if opus else 0,
            },
            "limits": {"resume_window_s": 30},
            **({"contexts": contexts} if resumed else {}),
        }

    async def _message(self, session: Session, message: dict) -> None:
        kind, ctx = message["type"], message.get("ctx")
        context = session.contexts.get(ctx)
        if kind == "ping":
            await self._raw(session, json.dumps({"type": "pong", "id": message.get("id", "")}))
        elif kind == "open":
            session.sids += 1
            session.contexts[ctx] = Context(ctx, session.sids)
            if message.get("max_delay_ms"):
                self._release_later(session.contexts[ctx], message["max_delay_ms"] / 1000)
            await self._event(session, {"type": "opened", "ctx": ctx, "sid": session.sids, "voice": "tone"})
        elif kind == "cancel" and context is not None:
            del session.contexts[ctx]
            await self._event(session, cancelled(context, message.get("played_ms", 0)))
        elif kind == "played" and context is not None:
            session.played_ms[ctx] = message["pts_ms"]
        elif context is not None:
            await self._text(session, context, message)

    async def _text(self, session: Session, context: Context, message: dict) -> None:
        if message["type"] == "text" and message["seq"] == context.text_seq + 1:
            context.text_seq += 1
            context.text += message["delta"]
        elif message["type"] == "end":
            context.ended = True
        refused = self.faults.refuse_text
        if refused is not None and refused in context.text:
            del session.contexts[context.ctx]
            text = "the voice 'tone' speaks en; add a voice that speaks zh with `make voices`"
            await self._event(
                session, error("unsupported_language", text, status=422, fatal=True, ctx=context.ctx)
            )
            return
        self._release(context, everything=message["type"] in {"end", "flush"})
        if message["type"] == "flush":
            context.flushes.append((message["id"], context.samples))

    def _release_later(self, context: Context, delay_s: float) -> None:
        self._release(context, everything=True)
        self._loop.call_later(delay_s, self._release_later, context, delay_s)

    def _release(self, context: Context, *, everything: bool) -> None:
        """Make segments, one a sentence, and their sound."""
        for match in re.finditer(r"[^.!?。！？\n]*[.!?。！？\n]+\s*|.+", context.text[context.released :]):  # noqa: RUF001  Chinese full stops
            whole = match.group()[-1] in ".!?。！？\n " or everything  # noqa: RUF001  the same
            if not whole:
                return
            start = context.released
            context.released += len(match.group())
            if match.group().strip():
                self._speak(context, match.group(), start)

    def _speak(self, context: Context, text: str, start: int) -> None:
        ms = context.samples / RATE * 1000
        context.marks.append((context.samples, segment(context, text, start, ms)))
        context.marks.append((context.samples, words(context, text, start, ms)))
        context.segments += 1
        pitch = float(match.group(1)) if (match := re.search(r"(\d+)Hz", text)) else 440.0
        length = len(text) * MS_A_CHAR * RATE // 1000
        phases = context.phase + 2 * np.pi * pitch / RATE * np.arange(1, length + 1)
        context.phase = float(phases[-1])
        context.pcm.append((0.5 * np.sin(phases) * 32767).astype("<i2"))
        context.samples += length

    async def _pump(self, session: Session, socket: ServerConnection) -> None:
        """Send the first context's next packet whenever it is due."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                context = next(iter(session.contexts.values()), None)
                if context is None or not await self._step(session, context, socket):
                    await asyncio.sleep(0.005)

    async def _step(self, session: Session, context: Context, socket: ServerConnection) -> bool:
        pcm = np.concatenate([*context.pcm, np.zeros(0, "<i2")])
        left = len(pcm) - context.sent
        ahead_ms = context.sent / RATE * 1000 - session.played_ms.get(context.ctx, 0)
        if self._loop.time() < session.stalled_until or ahead_ms > LEAD_MS:
            return False
        while context.flushes and context.flushes[0][1] <= context.sent:
            flush_id, _ = context.flushes.pop(0)
            await self._event(session, {"type": "flushed", "ctx": context.ctx, "id": flush_id, "pts_ms": 0})
        if left >= CHUNK or (left > 0 and (context.ended or context.released == len(context.text))):
            await self._packet(session, context, pcm[context.sent : context.sent + CHUNK], socket)
            return True
        if context.ended and left <= 0:
            del session.contexts[context.ctx]
            await self._event(session, done(context, len(pcm)))
        return False

    async def _packet(
        self, session: Session, context: Context, pcm: np.ndarray, socket: ServerConnection
    ) -> None:
        while context.marks and context.marks[0][0] <= context.sent:
            await self._event(session, context.marks.pop(0)[1])
        chunk = np.pad(pcm, (0, CHUNK - len(pcm))) if context.ended else pcm
        flags = 1 if context.sent == 0 else 0
        pts = context.sent * 2
        context.sent += CHUNK
        if len(chunk) < CHUNK:  # more text may come: the packet is filled and its place remembered
            chunk = np.pad(chunk, (0, CHUNK - len(chunk)))
            context.pcm.append(np.zeros(CHUNK - len(pcm), "<i2"))
            context.samples += CHUNK - len(pcm)
        payload = encode(session, context, chunk)
        session.seq += 1
        session.packets += 1
        header = b"\x11" + flags.to_bytes(1) + context.sid.to_bytes(2) + session.seq.to_bytes(4)
        packet = header + pts.to_bytes(8) + payload
        session.log.append((session.seq, packet))
        await self._send_packet(session, context, packet, socket)

    async def _send_packet(
        self, session: Session, context: Context, packet: bytes, socket: ServerConnection
    ) -> None:
        faults = self.faults
        if faults.drop_after_packets == session.packets:
            faults.drop_after_packets = None
            socket.transport.abort()
            raise ConnectionClosedHere(None, None)
        if faults.skip_one_after == session.packets:
            faults.skip_one_after = None
            return
        if faults.stall_after_packets == session.packets:
            faults.stall_after_packets = None
            session.stalled_until = self._loop.time() + faults.stall_s
        await socket.send(packet)
        if faults.send_twice:
            await socket.send(packet)
        if faults.fail_after_packets == session.packets:
            faults.fail_after_packets = None
            session.contexts.pop(context.ctx)
            text = "the engine was started again"
            await self._event(
                session,
                error("engine_restarted", text, status=503, fatal=True, retryable=True, ctx=context.ctx),
            )

    async def _event(self, session: Session, event: dict) -> None:
        session.seq += 1
        text = json.dumps({**event, "seq": session.seq})
        session.log.append((session.seq, text))
        await self._raw(session, text)
        if self.faults.send_twice:
            await self._raw(session, text)

    async def _raw(self, session: Session, text: str) -> None:
        if session.socket is not None:
            await session.socket.send(text)


class ConnectionClosedHere(ConnectionClosed):
    """This end broke the connection."""


def answer(body: bytes, kind: str) -> Response:
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": CSP,
            "Cache-Control": "no-store",
            "Connection": "close",
        }
    )
    return Response(200, "OK", headers, body)


def find(path: str) -> Path | None:
    """The file that a path of the URL names: the client, the harness, or the page."""
    places = [
        (path.removeprefix("/sdk/"), ROOT / "clients/web/dist", path.startswith("/sdk/")),
        (path.removeprefix("/harness/"), ROOT / "tests/browser/harness", path.startswith("/harness/")),
        (path.removeprefix("/") or "index.html", ROOT / "server/page", True),
    ]
    name, folder, _ = next(place for place in places if place[2])
    file = (folder / (name or "index.html")).resolve()
    return file if file.is_file() and file.is_relative_to(folder) else None


def encode(session: Session, context: Context, chunk: np.ndarray) -> bytes:
    if session.codec == "opus":
        return bytes(context.encoder.encode(chunk.tobytes(), CHUNK))
    return np.repeat(chunk, 2).astype("<i2").tobytes()


def error(code: str, message: str, *, status: int, fatal: bool = False, retryable: bool = False, ctx: str = "") -> dict:
    base = {"type": "error", "code": code, "message": message, "status": status, "fatal": fatal}
    return {**base, "retryable": retryable, "retry_after_ms": None, **({"ctx": ctx} if ctx else {})}


def segment(context: Context, text: str, start: int, ms: float) -> dict:
    ends = {"char_start": start, "char_end": start + len(text.rstrip())}
    base = {"type": "segment", "ctx": context.ctx, "index": context.segments, "pts_ms": ms}
    return {**base, "text": text.rstrip(), **ends}


def words(context: Context, text: str, start: int, ms: float) -> dict:
    items = [
        {
            "text": match.group(),
            "char_start": start + match.start(),
            "char_end": start + match.end(),
            "start_ms": ms + match.start() * MS_A_CHAR,
            "end_ms": ms + match.end() * MS_A_CHAR,
        }
        for match in re.finditer(r"\S+", text)
    ]
    return {"type": "words", "ctx": context.ctx, "items": items, "source": "estimate"}


def done(context: Context, samples: int) -> dict:
    times = {"first_packet_ms": 7, "first_delta_to_packet_ms": 8, "ttfa_ms": 9, "rtf": 0.01}
    ends = {"reason": "completed", "samples": samples, "audio_ms": samples / RATE * 1000}
    return {"type": "done", "ctx": context.ctx, **ends, **times, "last_seq": 0}


def cancelled(context: Context, played_ms: float) -> dict:
    heard = min(len(context.text), int(played_ms / MS_A_CHAR))
    texts = {"text_spoken": context.text[:heard], "text_remaining": context.text[heard:]}
    base = {"type": "cancelled", "ctx": context.ctx, "played_ms": played_ms, "source": "client"}
    return {**base, "audio_sent_ms": context.sent / RATE * 1000, **texts}
