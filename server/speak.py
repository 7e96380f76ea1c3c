"""``/v1/speak``: one text in, one plain audio stream out, sent as it is made.

Knows: the query's fields, containers, how an engine context becomes an async stream. Does not
know: sessions, resume, pacing (the reader's own speed paces it).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Annotated, Any, Literal

import msgspec
import structlog
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from server import choosing, invalid
from server.access import Identity
from server.bodies import read_body
from server.encoding import EncoderPool
from server.hot_fix import Lexicon, entries_of
from server.metrics import Outcome
from server.services import Services
from streaming.audio.containers import Container, ContainerName, open_container
from streaming.engine.client import ContextRequest, EngineContext
from streaming.errors import CosystreamError, InvalidValue, Overloaded, TextTooLong, by_code
from streaming.messages import Audio, ContextEvent, Failed, Finished
from streaming.segment import Reasoning

log = structlog.get_logger(__name__)

FIRST_AUDIO_TIMEOUT_S = 30.0
RETRY_AFTER_MS = 1000
CLIENT_LEFT = 499
"""Nobody reads this status; it stands in the logs of proxies."""

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would hold the first audio back
}
_ACCEPTED: dict[str, ContainerName] = {
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/ogg": "opus",
    "audio/opus": "opus",
    "application/ogg": "opus",
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/vnd.wave": "wav",
}


class SpeakRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be asked; ranges as in ``server.requests.Open``."""

    text: str
    voice: Annotated[str, Meta(max_length=256)] | None = None
    format: Literal["mp3", "opus", "wav"] | None = None
    speed: Annotated[float, Meta(ge=0.5, le=2.0)] = 1.0
    language: Annotated[str, Meta(min_length=1, max_length=35)] = "auto"
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    instruct: Annotated[str, Meta(max_length=1000)] | None = None
    reasoning: Reasoning = "speak"
    lexicon: Lexicon = ()


async def read_request(request: Request, text_chars: int) -> SpeakRequest:
    """The request from a query or a JSON body.

    Raises:
        BadJson: the body is not JSON.
        InvalidValue: a field is missing, unknown, of the wrong type or out of range.
        TextTooLong: the text passes the limit.
    """
    if request.method == "POST":
        asked = invalid.read(await read_body(request), SpeakRequest)
    else:
        fields = {name: value for name, value in request.query_params.items() if name != "token"}
        asked = invalid.convert(fields, SpeakRequest, strict=False)
    if not asked.text.strip():
        raise InvalidValue("text: there is no text to speak")
    if len(asked.text) > text_chars:
        raise TextTooLong(f"text has {len(asked.text)} characters; the limit is {text_chars}")
    return asked


async def speak(
    request: Request,
    asked: SpeakRequest,
    identity: Identity,
    services: Services,
    streams: set[object],
) -> Response:
    """Begin, wait for the first audio (so that errors come before any byte), then stream.

    The answer is one of ``streams`` while it is being sent.

    Raises:
        CosystreamError: refused, or failed before any audio was made.
    """
    if choosing.undecided(asked.voice, asked.language):
        chosen = choosing.other_voice(asked.text, identity, services.engine)
        asked = msgspec.structs.replace(asked, voice=chosen)
    voice = services.engine.voice_of(asked.voice, asked.language, identity.owner)
    identity.require_voice(voice)
    headers = _HEADERS | {"Cosystream-Voice": voice}
    identity.require_characters(len(asked.text))
    name = asked.format or _accepted(request.headers.get("accept", ""))
    audio = services.settings.audio
    container = open_container(name, bitrate=audio.opus_bitrate, complexity=audio.opus_complexity)
    with contextlib.ExitStack() as undo:
        undo.callback(container.close)
        services.engine.check(to_engine(asked, identity))
        if request.method == "HEAD":
            return Response(media_type=container.media_type, headers=headers)
        stream = _Stream(services, asked, identity)  # a refusal leaves a token as it was
        undo.callback(stream.close)
        services.access.use_up(identity)
        first = await _unless_left(request, stream.first())
        if first is None:
            return Response(status_code=CLIENT_LEFT)
        undo.pop_all()
    return _Speech(stream, first, container, services, streams, headers)


def _accepted(header: str) -> ContainerName:
    """The format that an ``Accept`` header likes best; mp3 where it names none of ours."""
    liked: list[tuple[float, ContainerName]] = []
    for part in header.lower().split(","):
        kind, *options = (piece.strip() for piece in part.split(";"))
        weight = next((option[2:] for option in options if option.startswith("q=")), "1")
        with contextlib.suppress(ValueError):  # a weight that is no number counts for nothing
            if kind in _ACCEPTED and float(weight) > 0:
                liked.append((float(weight), _ACCEPTED[kind]))
    return max(liked, key=lambda choice: choice[0], default=(1.0, "mp3"))[1]


async def _unless_left(request: Request, work: Coroutine[Any, Any, bytes]) -> bytes | None:
    """The work's result, or ``None`` where the client has left before it was there."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def to_engine(asked: SpeakRequest, identity: Identity) -> ContextRequest:
    """What the engine is asked for."""
    return ContextRequest(
        owner=identity.owner,
        voice=asked.voice,
        language=asked.language,
        speed=asked.speed,
        seed=asked.seed,
        instruct=asked.instruct,
        reasoning=asked.reasoning,
        lexicon=entries_of(asked.lexicon),
        priority=identity.priority(None),
    )


class _Stream:
    """An engine context as an async iterator of PCM; what was taken counts as played."""

    def __init__(self, services: Services, asked: SpeakRequest, identity: Identity) -> None:
        self._events: asyncio.Queue[ContextEvent] = asyncio.Queue()  # bounded by `max_ahead_s`
        self._metrics = services.metrics
        self._taken = 0
        self._over = False
        self._shares, self._identity = services.access.contexts, identity
        self._shares.require(identity)
        self._context: EngineContext = services.engine.open(
            to_engine(asked, identity), self._events.put_nowait
        )
        self._shares.take(identity)
        self._context.append(asked.text)
        self._context.end()
        self._metrics.text_accepted(len(asked.text))

    async def first(self) -> bytes:
        """The first chunk; raises what made it impossible."""
        try:
            async with asyncio.timeout(FIRST_AUDIO_TIMEOUT_S):
                pcm = await self.next()
        except TimeoutError:
            raise Overloaded(
                f"no audio after {FIRST_AUDIO_TIMEOUT_S:g} s; try again later",
                retry_after_ms=RETRY_AFTER_MS,
            ) from None
        if pcm is None:
            raise InvalidValue("text: there is no word to speak in it (punctuation or emoji alone)")
        return pcm

    async def next(self) -> bytes | None:
        """The next chunk of 24 kHz PCM, or ``None`` at the end."""
        while True:
            event = await self._events.get()
            if isinstance(event, Audio):
                self._taken += len(event.pcm) // 2
                self._context.played(self._taken)
                return event.pcm
            if isinstance(event, Finished):
                self._end("done")
                return None
            if isinstance(event, Failed):
                self._end("error")
                raise by_code(event.code, event.message, event.retry_after_ms)

    def close(self) -> None:
        """Stop the engine's work on it, if any is left."""
        if not self._over:
            self._end("cancelled")

    def _end(self, outcome: Outcome) -> None:
        self._over = True
        self._context.cancel()  # there is nothing left to stop, or it has nobody to stop for
        self._shares.give_back(self._identity)
        self._metrics.context_ended(outcome)


class _Speech(StreamingResponse):
    """The stream as a file; whatever ends it, the engine's work and the encoder end with it."""

    def __init__(
        self,
        stream: _Stream,
        first: bytes,
        container: Container,
        services: Services,
        streams: set[object],
        headers: dict[str, str],
    ) -> None:
        body = _body(stream, first, container, services.pool)
        super().__init__(body, media_type=container.media_type, headers=headers)
        self._stream = stream
        self._container = container
        self._metrics = services.metrics
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. One that fails is left unfinished, so that its reader sees it was cut off."""
        self._streams.add(self)
        try:
            await super().__call__(scope, receive, send)
        except CosystreamError as error:
            self._metrics.error(error.code)
            log.warning("speech cut off", code=error.code, message=error.message)
        finally:
            self._streams.discard(self)
            self._stream.close()
            self._container.close()


async def _body(
    stream: _Stream, first: bytes, container: Container, pool: EncoderPool
) -> AsyncIterator[bytes]:
    pcm: bytes | None = first
    while pcm is not None:
        encoded = await pool.run(lambda pcm=pcm: container.push(pcm))  # type: ignore[misc]
        if encoded:
            yield encoded
        pcm = await stream.next()
    yield await pool.run(container.finish)
