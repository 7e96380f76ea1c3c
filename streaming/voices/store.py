"""The voices that were made here, and whose they are.

A voice is seen by its owner alone: to everybody else it is one that does not exist. The list is
kept in memory and every change is on the disk before it is in the list.
Knows: owners, limits. Does not know: how a recording becomes a voice, HTTP, the engine.
"""

from __future__ import annotations

import secrets
import threading
import time
from base64 import b32encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from streaming.errors import StorageFull, TooManyVoices, UnknownVoice
from streaming.voices.draft import VoiceDraft
from streaming.voices.files import VoiceFiles, VoiceRecord, digest

_ID_BYTES = 12
"""96 bits after rounding to letters: nobody guesses an id."""

SWEEP_AGE_S = 3600.0
"""What belongs to no voice is removed at the start once it is so old."""

_log = structlog.get_logger("streaming.voices")


@dataclass(frozen=True)
class VoiceLimits:
    """How much may be kept."""

    per_owner: int
    total_bytes: int


class VoiceStore:
    """Stored voices by owner. Reading is for any thread; changes are made one after another."""

    def __init__(
        self, files: VoiceFiles, limits: VoiceLimits, now_s: Callable[[], float] = time.time
    ) -> None:
        self.files = files
        self._limits = limits
        self._now_s = now_s
        self._changing = threading.Lock()
        self._voices: dict[str, VoiceRecord] = {}  # replaced, never changed

    def load(self) -> None:
        """Read what is on the disk, and clear away what a crash left there."""
        with self._changing:
            records, broken = self.files.records()
            for error in broken:
                _log.error("voice_unreadable", error=str(error))
            self._voices = {record.id: record for record in sorted(records, key=_age)}
            if broken:  # nobody knows which recordings they need
                return
            wanted = {record.audio for record in records}
            left = self.files.sweep(wanted, self._now_s() - SWEEP_AGE_S)
            if left:
                _log.info("voices_swept", files=len(left))

    def seen_by(self, owner: str) -> list[VoiceRecord]:
        """An owner's voices, the oldest first."""
        return [record for record in self._voices.values() if record.owner == owner]

    def all(self) -> list[VoiceRecord]:
        """Everybody's; for those who keep house, not for users."""
        return list(self._voices.values())

    def get(self, owner: str, voice: str) -> VoiceRecord | None:
        """The owner's voice of that id, if there is one."""
        record = self._voices.get(voice)
        return record if record is not None and record.owner == owner else None

    def find(self, owner: str, voice: str) -> VoiceRecord:
        """The owner's voice of that id.

        Raises:
            UnknownVoice: there is none, or it is somebody else's: the same words for both.
        """
        record = self.get(owner, voice)
        if record is None:
            raise UnknownVoice(f"no voice {voice[:128]!r} was made here with this key")
        return record

    def require_room(self, owner: str, coming_bytes: int = 0) -> None:
        """Do nothing if the owner may have one more.

        Raises:
            TooManyVoices: not before one is removed.
            StorageFull: all voices together take as much as they may.
        """
        count = len(self.seen_by(owner))
        if count >= self._limits.per_owner:
            raise TooManyVoices(
                f"there are {count} voices of this key and the limit is {self._limits.per_owner}; "
                "delete one first"
            )
        used_bytes = self.files.used_bytes()
        if used_bytes + coming_bytes > self._limits.total_bytes:
            raise StorageFull(
                f"the stored voices take {used_bytes} bytes of {self._limits.total_bytes} "
                "(engine.voices_bytes); delete some, or ask whoever runs the server"
            )

    def add(
        self, owner: str, draft: VoiceDraft, wav: bytes, duration_ms: int, model: str, made: bytes
    ) -> tuple[VoiceRecord, bool]:
        """Keep a voice; ``made`` are its features by the model of that fingerprint, if any.

        What the owner sends again in all its parts is the voice it was before, and False.

        Raises:
            TooManyVoices, StorageFull: as ``require_room``; nothing is kept.
        """
        recording = digest(wav)
        with self._changing:
            if (known := self._same(owner, draft, recording)) is not None:
                with _told_when_full():
                    self._keep_features(recording, model, made)
                return known, False
            self.require_room(owner, len(wav) + len(made))
            record = self._record(owner, draft, recording, duration_ms)
            try:
                with _told_when_full():
                    self.files.write_audio(recording, wav)
                    self._keep_features(recording, model, made)
                    self.files.write_record(record)
            except StorageFull:
                with suppress(OSError):  # in a folder that cannot be written nothing is left either
                    self._forget_recording(recording)
                raise
            self._voices = {**self._voices, record.id: record}
        return record, True

    def renew(self, record: VoiceRecord, model: str, made: bytes) -> None:
        """Keep what another model made of a voice, if it is still there.

        Raises:
            StorageFull: the disk does not take it.
        """
        with self._changing, _told_when_full():
            if record.id in self._voices:
                self._keep_features(record.audio, model, made)

    def remove(self, owner: str, voice: str) -> VoiceRecord:
        """Remove a voice, and its recording unless another voice is made of the same.

        Raises:
            UnknownVoice: as ``find``.
        """
        with self._changing:
            record = self.find(owner, voice)
            self.files.remove_record(voice)
            self._voices = {key: kept for key, kept in self._voices.items() if key != voice}
            self._forget_recording(record.audio)
        return record

    def _forget_recording(self, recording: str) -> None:
        """Remove it with all that was made of it, unless a voice needs it."""
        if all(kept.audio != recording for kept in self._voices.values()):
            self.files.remove_recording(recording)

    def _keep_features(self, recording: str, model: str, made: bytes) -> None:
        if made:
            self.files.write_features(recording, model, made)

    def _same(self, owner: str, draft: VoiceDraft, recording: str) -> VoiceRecord | None:
        for record in self.seen_by(owner):
            kept = (record.audio, record.name, record.transcript, record.language, record.consent)
            if kept == (recording, draft.name, draft.transcript, draft.language, draft.consent):
                return record
        return None

    def _record(
        self, owner: str, draft: VoiceDraft, recording: str, duration_ms: int
    ) -> VoiceRecord:
        created = datetime.fromtimestamp(self._now_s(), UTC)
        return VoiceRecord(
            id=_new_id(),
            name=draft.name,
            owner=owner,
            transcript=draft.transcript,
            language=draft.language,
            consent=draft.consent,
            created=created.isoformat(timespec="milliseconds"),
            audio=recording,
            duration_ms=duration_ms,
        )


@contextmanager
def _told_when_full() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _log.error("voice_not_stored", error=str(error))
        raise StorageFull(
            f"the voice could not be stored in engine.voices_dir: {error.strerror}; the server's "
            "log names the path"
        ) from error


def _new_id() -> str:
    return "v-" + b32encode(secrets.token_bytes(_ID_BYTES)).decode().rstrip("=").lower()


def _age(record: VoiceRecord) -> tuple[str, str]:
    return record.created, record.id
