"""Where stored voices lie on the disk, and how a file gets there whole.

Three folders: ``records`` has a JSON file a voice, ``audio`` each recording once, under the hash of
its bytes, ``features`` what a model made of a recording, a folder for each model. A file is written
under another name, brought to the disk and then renamed, so whoever reads finds all of it or none.
The server writes; the engine reads.
Knows: paths, bytes. Does not know: who may see a voice, how many there may be.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

_ID = re.compile(r"v-[a-z2-7]{20}")
_HASH = re.compile(r"[0-9a-f]{64}")
_MODEL = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_UNFINISHED = ".tmp"
_RECORDS, _AUDIO, _FEATURES = "records", "audio", "features"


class VoiceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A voice that was made of a recording, as it is kept."""

    id: str
    name: str
    owner: str
    """The name of the key that made it; empty where the server asked for none."""
    transcript: str
    """What is said in the recording."""
    language: str
    """Of the recording, a BCP 47 tag, or ``auto``."""
    consent: str
    """Who agreed to it, and how."""
    created: str
    """UTC, as ISO 8601 writes it."""
    audio: str
    """The hash of the recording, which is its name here."""
    duration_ms: int


class Unreadable(Exception):
    """A record is there and cannot be read."""


def digest(data: bytes) -> str:
    """The name of a recording: what it is, and nothing of whose it is."""
    return hashlib.sha256(data).hexdigest()


class VoiceFiles:
    """The folder of stored voices; nothing is made in it before the first voice is."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def audio(self, recording: str) -> Path:
        """The WAVE file of the recording with that hash: 24 kHz, mono, 16-bit."""
        return self.root / _AUDIO / f"{recording}.wav"

    def features(self, recording: str, model: str) -> Path:
        """What the model of that fingerprint made of the recording."""
        if not _MODEL.fullmatch(model) or set(model) == {"."}:
            raise ValueError(f"a fingerprint that cannot be a folder's name: {model!r}")
        return self.root / _FEATURES / model / f"{recording}.bin"

    def record(self, voice: str) -> VoiceRecord:
        """What is kept of a voice.

        Raises:
            FileNotFoundError: there is no such voice.
            Unreadable: the file is damaged.
        """
        if not _ID.fullmatch(voice):
            raise FileNotFoundError(f"no stored voice is called {voice!r}")
        return _read(self._record_path(voice))

    def has(self, voice: str) -> bool:
        """Whether there is such a voice."""
        return _ID.fullmatch(voice) is not None and self._record_path(voice).exists()

    def records(self) -> tuple[list[VoiceRecord], list[Unreadable]]:
        """All there are, and what is wrong with those that cannot be read."""
        found: list[VoiceRecord] = []
        broken: list[Unreadable] = []
        for path in self._files(_RECORDS):
            try:
                found.append(_read(path))
            except Unreadable as error:
                broken.append(error)
            except FileNotFoundError:  # removed since the folder was listed
                continue
        return found, broken

    def write_record(self, record: VoiceRecord) -> None:
        """The last that is written of a voice: with it, it is there."""
        body = msgspec.json.format(msgspec.json.encode(record))
        write_whole(self._record_path(record.id), body)

    def write_audio(self, recording: str, wav: bytes) -> None:
        """Once, however many voices are made of it."""
        path = self.audio(recording)
        if path.exists():
            os.utime(path)  # it is wanted: no sweep takes it before its record is there
        else:
            write_whole(path, wav)

    def write_features(self, recording: str, model: str, features: bytes) -> None:
        """In place of what was there."""
        write_whole(self.features(recording, model), features)

    def remove_record(self, voice: str) -> None:
        """The first that is removed of a voice: without it, it is gone."""
        _remove(self._record_path(voice))

    def remove_recording(self, recording: str) -> None:
        """The recording, and what any model made of it."""
        for path in (self.root / _FEATURES).glob(f"*/{recording}.bin"):
            _remove(path)
        _remove(self.audio(recording))

    def used_bytes(self) -> int:
        """What all of it takes."""
        return sum(path.stat().st_size for path in self._files(""))

    def sweep(self, wanted: set[str], older_than_s: float) -> list[Path]:
        """Remove what a crash left: files half written, recordings of no voice.

        Files younger than that moment (seconds since the epoch) stay: somebody may be writing them.
        """
        left = [
            path
            for path in self._files("")
            if path.stat().st_mtime < older_than_s
            and (path.suffix == _UNFINISHED or self._is_orphan(path, wanted))
        ]
        for path in left:
            _remove(path)
        return left

    def _is_orphan(self, path: Path, wanted: set[str]) -> bool:
        return path.relative_to(self.root).parts[0] != _RECORDS and path.stem not in wanted

    def _record_path(self, voice: str) -> Path:
        return self.root / _RECORDS / f"{voice}.json"

    def _files(self, folder: str) -> Iterator[Path]:
        for path in sorted((self.root / folder).rglob("*")):
            if path.is_file() and (folder == "" or path.suffix != _UNFINISHED):
                yield path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read; a crash leaves the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=_UNFINISHED)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)  # noqa: PTH105 - the counterpart of mkstemp, which gives a name
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
    _settle(path.parent)


def _read(path: Path) -> VoiceRecord:
    try:
        record = msgspec.json.decode(path.read_bytes(), type=VoiceRecord)
    except msgspec.MsgspecError as error:
        raise Unreadable(f"{path}: {error}") from error
    if record.id != path.stem or not (_ID.fullmatch(record.id) and _HASH.fullmatch(record.audio)):
        raise Unreadable(f"{path}: its name, id and recording do not belong together")
    return record


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):  # the latter: below a file
        path.unlink()
        _settle(path.parent)


def _settle(folder: Path) -> None:
    """Bring a folder's own list of names to the disk, where the system has a way to."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
