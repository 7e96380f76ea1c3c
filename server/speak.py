"""``/v1/speak``: one text in, one plain audio stream out, sent as it is made.

Knows: the query's fields, containers, how an engine context becomes an async stream. Does not
know: sessions, resume, pacing (the reader's own speed paces it).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import StreamingResponse

from server import invalid
from server.access import Identity
from server.encoding import EncoderPool
from server.services import Services
from streaming.audio.containers import Container, open_container
from streaming.engine.client import ContextRequest, EngineContext
from streaming.errors import InvalidValue, TextTooLong, by_code
from streaming.messages import Audio, ContextEvent, Failed, Finished

FIRST_AUDIO_TIMEOUT_S = 30.0
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would hold the first audio back
}
_ACCEPTED = {"audio/mpeg": "mp3", "audio/ogg": "opus", "audio/wav": "wav", "audio/x-wav": "wav"}


class SpeakRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be asked; ranges as in ``server.requests.Open``."""

    text: str
    voice: Annotated[str, Meta(max_length=256)] | None = None
    format: Literal["mp3", "opus", "wav"] | None = None
    speed: Annotated[float, Meta(ge=0.5, le=2.0)] = 1.0
    language: Annotated[str, Meta(min_length=1, max_length=35)] = "auto"
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    instruct: Annotated[str, Meta(max_length=1000)] | None = None


async def read_request(request: Request, text_chars: int) -> SpeakRequest:
    """The request from a query or a JSON body.

    Raises:
        BadJson: the body is not JSON.
        InvalidValue: a field is missing, unknown, of the wrong type or out of range.
        TextTooLong: the text passes the limit.
    """
    if request.method == "POST":
        asked = invalid.read(await request.body(), SpeakRequest)
    else:
        fields = {name: value for name, value in request.query_params.items() if name != "token"}
        asked = invalid.convert(fields, SpeakRequest, strict=False)
    if not asked.text.strip():
        raise InvalidValue("text: there is no text to speak")
    if len(asked.text) > text_chars:
        raise TextTooLong(f"text has {len(asked.text)} characters; the limit is {text_chars}")
    return asked


async def speak(
    request: Request, asked: SpeakRequest, identity: Identity, services: Services
) -> StreamingResponse:
    """Begin, wait for the first audio (so that errors come before any byte), then stream.

    Raises:
        CosystreamError: refused, or failed before any audio was made.
    """
    identity.require_voice(services.default_voice if asked.voice is None else asked.voice)
    identity.require_characters(len(asked.text))
    container = open_container(_format(request, asked))
    stream = _Stream(services, asked)
    try:
        first = await stream.first()
    except BaseException:
        stream.close()
        raise
    body = _body(stream, first, container, services.pool)
    return StreamingResponse(body, media_type=container.media_type, headers=_HEADERS)


def _format(request: Request, asked: SpeakRequest) -> Literal["mp3", "opus", "wav"]:
    if asked.format is not None:
        return asked.format
    for accepted in request.headers.get("accept", "").split(","):
        name = _ACCEPTED.get(accepted.partition(";")[0].strip().lower())
        if name is not None:
            return name  # type: ignore[return-value]  # the table's values are the literals
    return "mp3"


class _Stream:
    """An engine context as an async iterator of PCM; what was taken counts as played."""

    def __init__(self, services: Services, asked: SpeakRequest) -> None:
        self._events: asyncio.Queue[ContextEvent] = asyncio.Queue()  # bounded by `max_ahead_s`
        self._metrics = services.metrics
        self._taken = 0
        self._context: EngineContext = services.engine.open(
            ContextRequest(
                voice=asked.voice,
                language=asked.language,
                speed=asked.speed,
                seed=asked.seed,
                instruct=asked.instruct,
            ),
            self._events.put_nowait,
        )
        self._context.append(asked.text)
        self._context.end()
        self._metrics.text_accepted(len(asked.text))

    async def first(self) -> bytes:
        """The first chunk; raises what made it impossible."""
        async with asyncio.timeout(FIRST_AUDIO_TIMEOUT_S):
            pcm = await self.next()
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
                self._metrics.context_ended("done")
                return None
            if isinstance(event, Failed):
                self._metrics.context_ended("error")
                self._metrics.error(event.code)
                raise by_code(event.code, event.message)

    def close(self) -> None:
        """Stop the engine's work on it, if any is left."""
        self._context.cancel()


async def _body(
    stream: _Stream, first: bytes, container: Container, pool: EncoderPool
) -> AsyncIterator[bytes]:
    try:
        pcm: bytes | None = first
        while pcm is not None:
            encoded = await pool.run(lambda pcm=pcm: container.push(pcm))  # type: ignore[misc]
            if encoded:
                yield encoded
            pcm = await stream.next()
        yield await pool.run(container.finish)
    finally:
        stream.close()
