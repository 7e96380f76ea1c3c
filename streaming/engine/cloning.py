"""Voices made of recordings, as the server's side of the engine sees them.

A voice belongs to its owner: it is listed, spoken with, downloaded and removed under the owner's
name alone. Disk work runs in one thread, so the event loop never waits for a disk.
Knows: the store, the prompt maker, what the engine is told. Does not know: HTTP, how a prompt is
made, who proved to be which owner.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
import structlog

from streaming.config import EngineSettings
from streaming.engine.gate import Gate
from streaming.errors import (
    CosystreamError,
    EngineLoading,
    Internal,
    NotAllowed,
    UnknownVoice,
    UnsupportedByEngine,
    UnsupportedLanguage,
)
from streaming.messages import ForgetVoice, Message, PromptMade, Ready, Voice
from streaming.voices import catalog
from streaming.voices.draft import VoiceDraft, checked, doubts
from streaming.voices.files import VoiceFiles, VoiceRecord
from streaming.voices.store import VoiceLimits, VoiceStore

__all__ = ["Asker", "Cloning", "NewVoice", "PromptMaker", "VoiceDraft", "VoiceRecord"]

T = TypeVar("T")

_log = structlog.get_logger("streaming.engine")


class PromptMaker(Protocol):
    """What turns a recording into a prompt."""

    model: str
    """Fingerprint of what makes features, as soon as a prompt was made."""

    async def make(self, recording: bytes) -> PromptMade:
        """The prompt. Raises the ``BadRecording`` that says why there is none."""
        ...


@dataclass(frozen=True)
class NewVoice:
    """A voice that was asked for."""

    voice: Voice
    record: VoiceRecord
    created: bool
    """False: the owner had sent all of it before."""
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Asker:
    """A context that may have to wait for its voice."""

    wanted: Callable[[], bool]
    fail: Callable[[CosystreamError], None]


class Cloning:
    """The stored voices, and how more of them are made."""

    def __init__(
        self,
        settings: EngineSettings,
        maker: PromptMaker,
        tell_engine: Callable[[Message], None],
        engine: Callable[[], Ready | None],
    ) -> None:
        files = VoiceFiles(Path(settings.voices_dir))
        limits = VoiceLimits(settings.voices_per_key, settings.voices_bytes)
        self._store = VoiceStore(files, limits)
        self._maker = maker
        self._tell_engine = tell_engine
        self._engine = engine
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stored voices")
        self._preparing: dict[str, asyncio.Task[None]] = {}

    async def load(self) -> None:
        """Read what is stored."""
        await self._aside(self._store.load)

    async def close(self) -> None:
        """Leave what is being prepared, finish what is being written."""
        for task in self._preparing.values():
            task.cancel()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)

    # --- an owner's voices -----------------------------------------------------------------

    def seen_by(self, owner: str, engine: Ready) -> Ready:
        """The engine with the owner's voices behind its own; as it is where it cannot clone."""
        if not engine.cloning:
            return engine
        own = tuple(_voice(record, engine) for record in self._store.seen_by(owner))
        return msgspec.structs.replace(engine, voices=engine.voices + own)

    def records(self, owner: str) -> list[VoiceRecord]:
        """What is kept of an owner's voices."""
        return self._store.seen_by(owner)

    def record(self, owner: str, voice: str) -> VoiceRecord | None:
        """What is kept of an owner's voice, if there is one of that id."""
        return self._store.get(owner, voice)

    def recording(self, owner: str, voice: str) -> Path:
        """The WAVE file of an owner's voice. Raises UnknownVoice."""
        return self._store.files.audio(self._store.find(owner, voice).audio)

    def require(self) -> Ready:
        """The engine, where voices can be made of recordings.

        Raises:
            EngineLoading: nobody knows yet.
            UnsupportedByEngine: they cannot; the message names the engine.
        """
        engine = self._engine()
        if engine is None:
            raise EngineLoading("the engine is not ready; see /readyz")
        if not engine.cloning:
            raise UnsupportedByEngine(
                f"the {engine.runner} engine makes no voices of recordings; CosyVoice does: start "
                "the server with --model FOLDER (docs/cosyvoice.md)"
            )
        return engine

    async def require_room(self, owner: str) -> None:
        """Do nothing if the owner may have one more. Raises TooManyVoices, StorageFull."""
        await self._aside(self._store.require_room, owner)

    async def create(self, owner: str, draft: VoiceDraft, recording: bytes) -> NewVoice:
        """Make a voice and keep it.

        Raises:
            EngineLoading, UnsupportedByEngine: as ``require``.
            InvalidValue, UnsupportedLanguage: something that was said of it cannot be.
            BadRecording: no voice can be made of the recording.
            TooManyVoices, StorageFull: there is no room for it.
        """
        engine = self.require()
        draft = checked(draft)
        _require_language(draft.language, engine)
        made = await self._make(recording, engine)
        record, created = await self._aside(
            self._store.add,
            owner, draft, made.wav, made.duration_ms, engine.voice_model, made.features,
        )  # fmt: skip
        warnings = made.warnings + doubts(draft, made.duration_ms)
        return NewVoice(_voice(record, engine), record, created, warnings)

    async def remove(self, owner: str, voice: str) -> None:
        """Remove a voice with all that was made of it, here and in the engine.

        Who opened with it may finish, if the engine has read it by now.

        Raises:
            UnknownVoice: the owner has none of that id.
            NotAllowed: it is one of the engine's own.
        """
        engine = self._engine()
        if engine is not None and any(own.id == voice for own in engine.voices):
            raise NotAllowed(f"the voice {voice!r} comes with the engine and cannot be removed")
        await self._aside(self._store.remove, owner, voice)
        self._tell_engine(ForgetVoice(voice=voice))

    # --- voices of another model -----------------------------------------------------------

    def way(
        self,
        owner: str,
        voice: str,
        engine: Ready,
        send: Callable[[Message], None],
        ask: Asker,
    ) -> Callable[[Message], None]:
        """What a context tells the engine by; where its voice must be prepared, messages wait.

        A voice is prepared where the model is another than the one that made its features, and once
        for all who wait for it. Where that fails, or the context is not wanted any more, the
        messages that waited are dropped.
        """
        record = self._store.get(owner, voice)
        if record is None or self._is_prepared(record, engine.voice_model):
            return send
        gate = Gate(send)

        def go_on(task: asyncio.Task[None]) -> None:
            if task.cancelled() or not ask.wanted():
                return
            error = task.exception()
            if error is None:
                gate.open()
            elif isinstance(error, CosystreamError):
                ask.fail(error)
            else:
                _log.error("voice_not_prepared", voice=voice, exc_info=error)
                ask.fail(Internal(f"the voice could not be prepared: {type(error).__name__}"))

        self._prepared(record, engine).add_done_callback(go_on)
        return gate

    def _is_prepared(self, record: VoiceRecord, model: str) -> bool:
        return not model or self._store.files.features(record.audio, model).exists()

    def _prepared(self, record: VoiceRecord, engine: Ready) -> asyncio.Task[None]:
        task = self._preparing.get(record.audio)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._prepare(record, engine))
            self._preparing[record.audio] = task
            task.add_done_callback(lambda _: self._preparing.pop(record.audio, None))
        return task

    async def _prepare(self, record: VoiceRecord, engine: Ready) -> None:
        try:
            recording = await self._aside(self._store.files.audio(record.audio).read_bytes)
        except FileNotFoundError:  # in whatever other name it is wanted, it is gone in all
            raise UnknownVoice("the voice was removed before it was spoken with") from None
        made = await self._make(recording, engine)
        await self._aside(self._store.renew, record, engine.voice_model, made.features)

    async def _make(self, recording: bytes, engine: Ready) -> PromptMade:
        made = await self._maker.make(recording)
        if self._maker.model != engine.voice_model:
            raise Internal(
                f"features of recordings are made by model {self._maker.model!r}, and the engine "
                f"reads those of {engine.voice_model!r}"
            )
        return made

    async def _aside(self, work: Callable[..., T], *arguments: object) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, work, *arguments)


def _voice(record: VoiceRecord, engine: Ready) -> Voice:
    return Voice(id=record.id, name=record.name, languages=engine.clone_languages)


def _require_language(language: str, engine: Ready) -> None:
    clone = Voice(id="", name="", languages=engine.clone_languages)
    if not catalog.speaks(clone, language):
        raise UnsupportedLanguage(
            f"language: {language!r} is none in which the {engine.runner} engine makes voices; "
            f"those are {', '.join(engine.clone_languages)}"
        )
