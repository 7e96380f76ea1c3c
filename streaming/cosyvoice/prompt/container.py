"""What a file says of itself in its first and last bytes: its format, and whether it is whole.

Only the formats below are let near a decoder. Knows: containers. Does not know: samples.
"""

from __future__ import annotations

import functools
import struct
from typing import Literal

from streaming.errors import DamagedRecording, NotAudio

Kind = Literal["wav", "flac", "mp3", "ogg"]

TAKEN = "wav, flac, mp3, and ogg with Vorbis or Opus"

_UNKNOWN_BYTES = 0x7FFFF000
"""A WAVE file whose length was not known when its header was written says this much or more."""

_OTHERS = {
    b"\x1aE\xdf\xa3": "webm or Matroska",
    b"FORM": "aiff",
    b"caff": "caf",
    b"#!AM": "amr",
    b".snd": "au",
    b"0&\xb2u": "wma",
    b"PK\x03\x04": "a zip archive",
}
_FTYP = slice(4, 8)
_PAGE = struct.Struct("<4sBBqIIIB")
_CAPTURE = b"OggS"
_ID3_BYTES = 10
_FRAME_BYTES = 1441
"""The longest frame of mp3."""
_LAST_PAGE = 4
"""The flag of a stream's last page."""


def kind_of(data: bytes) -> Kind:
    """The format, by the file's own bytes; no name is believed.

    Raises:
        NotAudio: it is none that is taken.
    """
    head = data[:12]
    if head[:4] in {b"RIFF", b"RF64"} and head[8:] == b"WAVE":
        return "wav"
    if head[:4] == b"fLaC":
        return "flac"
    if head[:4] == _CAPTURE:
        return "ogg"
    if head[:3] == b"ID3" or _is_mpeg_frame(head):
        return "mp3"
    raise NotAudio(f"{_what(data)}: send {TAKEN}")


def check_whole(data: bytes, kind: Kind) -> tuple[str, ...]:
    """Whether the container ends where it says; warnings where that cannot be told.

    Flac and mp3 tell it by their frames, as they are decoded.

    Raises:
        DamagedRecording: it ends before.
    """
    if kind == "wav":
        _check_wav(data)
    elif kind == "ogg":
        return _check_ogg(data)
    return ()


def mp3_tells_length(data: bytes) -> bool:
    """Whether the first frame says how many follow; else a length is a guess from bit rates."""
    begin = 0
    if data[:3] == b"ID3" and len(data) >= _ID3_BYTES:
        size = functools.reduce(lambda sum_, byte: sum_ << 7 | byte & 0x7F, data[6:10], 0)
        begin = _ID3_BYTES + size
    frame = data[begin : begin + _FRAME_BYTES]
    return any(tag in frame for tag in (b"Xing", b"Info", b"VBRI"))


def _what(data: bytes) -> str:
    if not data:
        return "the file is empty"
    if data[_FTYP] == b"ftyp":
        return "the file is mp4 or m4a, which is not read here"
    other = next((name for magic, name in _OTHERS.items() if data.startswith(magic)), None)
    return f"the file is {other}, which is not read here" if other else "the file is no audio"


def _is_mpeg_frame(head: bytes) -> bool:
    """Eleven bits of sync; then version, layer, bit rate and sample rate that exist."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:  # noqa: PLR2004 - as above
        return False
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    bit_rate, sample_rate = head[2] >> 4, head[2] >> 2 & 3
    return version != 1 and layer != 0 and bit_rate != 15 and sample_rate != 3  # noqa: PLR2004


def _check_wav(data: bytes) -> None:
    at = 12
    while at + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        at += 8
        if name == b"data":
            if size < _UNKNOWN_BYTES and at + size > len(data):
                raise DamagedRecording(
                    f"the file is cut off: its header says {size:,} bytes of samples, "
                    f"{len(data) - at:,} are there"
                )
            return
        at += size + size % 2
    raise DamagedRecording("the file is cut off: it ends before any samples")


def _check_ogg(data: bytes) -> tuple[str, ...]:
    at = data.rfind(_CAPTURE)
    whole = at + _PAGE.size <= len(data)
    flags, segments = (data[at + 5], data[at + 26]) if whole else (0, 0)
    table = data[at + 27 : at + 27 + segments]
    if not whole or at + 27 + segments + sum(table) > len(data):
        raise DamagedRecording("the file is cut off in the middle of its last page")
    ended = flags & _LAST_PAGE
    return () if ended else ("the file has no mark at its end: it may have been cut off",)
