"""``/v1/voices``: which voices there are, and voices made of recordings.

Knows: the form and its bounds, the shape of an answer, what a token may not do. Does not know: how
a voice is made or kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from server.access import Identity
from server.bodies import drop_body
from server.services import Services
from streaming.engine.cloning import VoiceDraft, VoiceRecord
from streaming.errors import (
    BadRequest,
    CosystreamError,
    IdleTimeout,
    InvalidValue,
    NotAllowed,
    Overloaded,
    UnknownVoice,
    UploadTooLarge,
)
from streaming.messages import Voice

log = structlog.get_logger(__name__)

UPLOADS_AT_ONCE = 8
UPLOAD_TIMEOUT_S = 120.0
RETRY_AFTER_MS = 2000
_FIELDS = ("name", "transcript", "consent", "language")
_FIELD_BYTES = 16_384
_FORM_BYTES = 65_536
"""What a form has beside its recording: fields, headers, boundaries."""


class _Parser(MultiPartParser):
    """Keeps everything in memory: a server's disk may be read-only, and the form is bounded."""

    spool_max_size = 1 << 30


@dataclass(frozen=True)
class _Form:
    draft: VoiceDraft
    recording: bytes


class VoicesApi:
    """Handlers of ``/v1/voices``."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._cloning = services.engine.cloning
        self._upload_bytes = services.settings.limits.upload_bytes
        self._uploads = 0

    async def list(self, _request: Request, identity: Identity) -> Response:
        """Everything that this identity can speak with."""
        engine = self._services.engine.seen_by(identity.owner)
        own = {record.id: record for record in self._cloning.records(identity.owner)}
        voices = [
            _told(voice, own.get(voice.id)) for voice in engine.voices if identity.may_use(voice.id)
        ]
        return JSONResponse(
            {
                "voices": voices,
                "default": engine.default_voice,
                "cloning": engine.cloning,
                "options": list(engine.options),
            }
        )

    async def create(self, request: Request, identity: Identity) -> Response:
        """Make a voice of what the form holds; what can be refused unread is."""
        try:
            self._cloning.require()
            _require_key(identity)
            await self._cloning.require_room(identity.owner)
        except CosystreamError:
            await drop_body(request, self._upload_bytes)
            raise
        async with self._place(), asyncio.timeout(UPLOAD_TIMEOUT_S):
            form = await self._read(request)
        made = await self._cloning.create(identity.owner, form.draft, form.recording)
        log.info("voice made", voice=made.record.id, owner=identity.owner, created=made.created)
        told = _told(made.voice, made.record) | {"warnings": list(made.warnings)}
        return JSONResponse(told, status_code=201 if made.created else 200)

    async def show(self, request: Request, identity: Identity) -> Response:
        """One voice, with all that is kept of it."""
        voice = request.path_params["voice"]
        for known in self._services.engine.seen_by(identity.owner).voices:
            if known.id == voice and identity.may_use(voice):
                return JSONResponse(_told(known, self._cloning.record(identity.owner, voice)))
        raise UnknownVoice(f"no voice {voice[:128]!r} here")

    async def recording(self, request: Request, identity: Identity) -> Response:
        """The recording that a voice was made of, as it is kept."""
        _require_key(identity)
        path = self._cloning.recording(identity.owner, request.path_params["voice"])
        return FileResponse(path, media_type="audio/wav", headers={"Cache-Control": "no-store"})

    async def remove(self, request: Request, identity: Identity) -> Response:
        """Remove a voice and all that was made of it."""
        _require_key(identity)
        voice = request.path_params["voice"]
        await self._cloning.remove(identity.owner, voice)
        log.info("voice removed", voice=voice, owner=identity.owner)
        return Response(status_code=204)

    # --- the form ---------------------------------------------------------------------------

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        if self._uploads >= UPLOADS_AT_ONCE:
            raise Overloaded(
                f"{self._uploads} recordings are on their way, as many as may be at once; "
                "try again in a moment",
                retry_after_ms=RETRY_AFTER_MS,
            )
        self._uploads += 1
        try:
            yield
        except TimeoutError:
            raise IdleTimeout(
                f"the upload was not finished within {UPLOAD_TIMEOUT_S:g} s"
            ) from None
        finally:
            self._uploads -= 1

    async def _read(self, request: Request) -> _Form:
        kind = request.headers.get("content-type", "")
        if not kind.lower().startswith("multipart/form-data"):
            raise BadRequest(
                "a voice is made of a form: multipart/form-data with the file `audio` and the "
                f"fields {', '.join(_FIELDS)}; this is {kind[:80] or 'nothing'}"
            )
        parser = _Parser(
            request.headers,
            self._bounded(request),
            max_files=1,
            max_fields=len(_FIELDS),
            max_part_size=_FIELD_BYTES,
        )
        try:
            form = await parser.parse()
        except MultiPartException as error:
            raise BadRequest(f"the form cannot be read: {error.message}") from error
        try:
            return await _taken_apart(form)
        finally:
            await form.close()

    async def _bounded(self, request: Request) -> AsyncGenerator[bytes, None]:
        """The body, as far as it is allowed to go."""
        taken = 0
        self._check_length(int(request.headers.get("content-length") or 0))
        async for piece in request.stream():
            taken += len(piece)
            self._check_length(taken)
            yield piece

    def _check_length(self, form_bytes: int) -> None:
        if form_bytes > self._upload_bytes + _FORM_BYTES:
            raise UploadTooLarge(
                f"the recording has more than {self._upload_bytes} bytes, the limit of this "
                "server (limits.upload_bytes); 3 to 30 s are enough, and mp3, ogg or flac are "
                "smaller than wav"
            )


async def _taken_apart(form: FormData) -> _Form:
    unknown = set(form) - {"audio", *_FIELDS}
    if unknown:
        raise InvalidValue(
            f"{min(unknown)[:80]}: no such field; there are audio, {', '.join(_FIELDS)}"
        )
    audio = form.get("audio")
    if not isinstance(audio, UploadFile):
        raise InvalidValue("audio: a file with the recording is missing")
    fields = {name: form.get(name, "") for name in _FIELDS}
    for name, value in fields.items():
        if not isinstance(value, str):
            raise InvalidValue(f"{name}: expected a text, got a file")
    texts = {name: str(value) for name, value in fields.items()}
    return _Form(VoiceDraft(**texts), await audio.read())


def _require_key(identity: Identity) -> None:
    if identity.token_id is not None:
        raise NotAllowed(
            "a token is for speaking; voices are made, fetched and removed with the key itself"
        )


def _told(voice: Voice, record: VoiceRecord | None) -> dict[str, Any]:
    """A voice as an answer has it."""
    told = {
        "id": voice.id,
        "name": voice.name,
        "languages": list(voice.languages),
        "description": voice.description,
        "preview": voice.preview,
        "cloned": record is not None,
    }
    if record is None:
        return told
    return told | {
        "language": record.language,
        "transcript": record.transcript,
        "consent": record.consent,
        "created": record.created,
        "duration_ms": record.duration_ms,
    }
