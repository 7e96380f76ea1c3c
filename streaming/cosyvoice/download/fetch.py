"""One file from a hub to the disk: resumed, checked, and there all at once.

While it arrives it is ``NAME.HASH.part`` beside its place; the hash is of what the hub promises,
so a part is never continued with another version's bytes. When size and hash are right it takes
its name, in one step. Knows: ranges, hashes, the disk. Does not know: which files, which hub.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Final

from streaming.cosyvoice.download import web
from streaming.cosyvoice.download.errors import Damaged, DownloadError, NoRoom, Unreachable
from streaming.cosyvoice.download.hubs import RemoteFile
from streaming.cosyvoice.folder import PART

CHUNK_BYTES: Final = 1 << 20
BREAKS: Final = 8
"""How many times in a row a connection may break without a byte gained."""

_LONGEST_WAIT_S: Final = 30.0
_FULL: Final = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True)
class Fetch:
    """How files are fetched."""

    report: Callable[[int], None] = lambda _have: None
    """Hears how many bytes of the file are in place, as they come."""
    say: Callable[[str], None] = lambda _words: None
    """Hears of waits and of second tries."""
    sleep: Callable[[float], None] = time.sleep
    timeout_s: float = web.TIMEOUT_S

    def fetch(self, file: RemoteFile, target: Path) -> None:
        """Fetch a file into its place, going on with what there is of it.

        Raises:
            Unreachable: the connection breaks again and again; what arrived is kept.
            Refused: the hub does not give the file.
            Damaged: it arrives twice otherwise than the hub describes it.
            NoRoom: the disk is full; what arrived is kept.
        """
        try:
            self._fetch(file, target, part_of(file, target))
        except OSError as error:
            raise _of_the_disk(error, target) from error

    def _fetch(self, file: RemoteFile, target: Path, part: Path) -> None:
        part.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(2):
            self._fill(file, part)
            wrong = fault(file, part)
            if wrong is None:
                part.replace(target)
                return
            part.unlink()
            self.say(f"{file.path} arrived damaged ({wrong})")
        raise Damaged(
            f"{file.path} arrives damaged, twice: {wrong}. Try the other hub (--source), or later"
        )

    def _fill(self, file: RemoteFile, part: Path) -> None:
        """Have the part as long as the file, over as many connections as it takes."""
        breaks = 0
        part.touch()
        while (have := part.stat().st_size) < file.size:
            try:
                self._more(file, part, have)
            except Unreachable as error:
                breaks = 1 if part.stat().st_size > have else breaks + 1
                if breaks > BREAKS:
                    raise
                wait_s = min(_LONGEST_WAIT_S, 2.0 ** (breaks - 1))
                self.say(f"{error}; going on in {wait_s:.0f} s")
                self.sleep(wait_s)

    def _more(self, file: RemoteFile, part: Path, have: int) -> None:
        """One connection's worth of bytes, after those that are there or instead of them."""
        headers = {"Range": f"bytes={have}-"} if have else {}
        with web.get(file.url, headers=headers, timeout_s=self.timeout_s) as answer:
            goes_on = _begins_at(answer) == have
            with part.open("ab" if goes_on else "wb", buffering=0) as out:
                self._copy(file, answer, out)
                os.fsync(out.fileno())

    def _copy(self, file: RemoteFile, answer: http.client.HTTPResponse, out: FileIO) -> None:
        have = out.tell()
        while have <= file.size:
            try:
                chunk = memoryview(answer.read(CHUNK_BYTES))
            except web.BROKEN as error:
                raise Unreachable(f"{file.path} broke off: {web.reason(error)}") from error
            if not chunk:
                break
            while chunk:
                written = out.write(chunk)
                have, chunk = have + written, chunk[written:]
            self.report(have)
        if have < file.size:
            raise Unreachable(f"{file.path} broke off after {have:,} of {file.size:,} bytes")


def part_of(file: RemoteFile, target: Path) -> Path:
    """Where a file is while it arrives."""
    promise = file.sha256 or file.git_sha1 or str(file.size)
    return target.with_name(f"{target.name}.{promise[:8]}{PART}")


def fault(file: RemoteFile, path: Path) -> str | None:
    """What is wrong with a file on the disk by what the hub says of it; None: nothing."""
    size = path.stat().st_size
    if size != file.size:
        return f"{size:,} bytes, and the hub says {file.size:,}"
    if file.sha256:
        return _compare("sha256", _digest(path, "sha256"), file.sha256)
    if file.git_sha1:
        prefix = b"blob %d\0" % size  # what Git hashes before the content
        return _compare("Git hash", _digest(path, "sha1", prefix), file.git_sha1)
    return None


def _compare(name: str, found: str, told: str) -> str | None:
    return None if found == told.lower() else f"its {name} is {found}, and the hub says {told}"


def _digest(path: Path, algorithm: str, prefix: bytes = b"") -> str:
    digest = hashlib.new(algorithm, prefix, usedforsecurity=False)
    with path.open("rb") as content:
        while chunk := content.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _begins_at(answer: http.client.HTTPResponse) -> int:
    """The place in the file at which an answer begins: 0 where no range is granted."""
    granted = answer.headers.get("Content-Range", "") if answer.status == 206 else ""  # noqa: PLR2004 - Partial Content
    begin = granted.removeprefix("bytes ").partition("-")[0]
    return int(begin) if begin.isdigit() else 0


def _of_the_disk(error: OSError, target: Path) -> DownloadError:
    if error.errno in _FULL:
        return NoRoom(
            f"the disk of {target.parent} is full. Make room and run this again: "
            "it goes on where it was"
        )
    return DownloadError(f"{target} cannot be written: {error.strerror or error}")
