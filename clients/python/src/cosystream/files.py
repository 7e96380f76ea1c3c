"""Packets into files: WAV with exact lengths, Ogg Opus, or the bare samples.

Knows: containers and how the padding at the end is cut. Does not know: where packets come from.
One packet is held back, since only the end says how much of the last one is sound.
"""

from __future__ import annotations

import secrets
import struct
from typing import BinaryIO, Protocol

from cosystream.events import AudioFormat
from cosystream.loudness import BYTES_PER_SAMPLE
from cosystream.ogg import OggOpus

_UNKNOWN = 0xFFFF_FFFF
"""A length that is not known yet, as streamed WAV files have it."""

_FORMAT_TAGS = {"pcm_s16le": 1, "alaw": 6, "mulaw": 7}


class AudioFile(Protocol):
    """Takes packets, then the exact length, if it is known, in samples at 24 kHz."""

    def write(self, payload: bytes) -> None:
        """The next packet."""

    def finish(self, samples_24k: int | None) -> None:
        """There is no more; None where the speech was broken off."""


class RawFile:
    """Samples alone, without any header."""

    def __init__(self, file: BinaryIO, audio: AudioFormat) -> None:
        self._file = file
        self._width = BYTES_PER_SAMPLE[audio.codec]
        self._rate = audio.rate
        self._held = b""
        self.bytes_written = 0

    def write(self, payload: bytes) -> None:
        """Write the packet before it."""
        self._emit(self._held)
        self._held = payload

    def finish(self, samples_24k: int | None) -> None:
        """Write the last one, without its padding."""
        if samples_24k is not None:
            whole = -(-samples_24k * self._rate // 24_000) * self._width
            self._held = self._held[: max(0, whole - self.bytes_written)]
        self._emit(self._held)
        self._file.flush()

    def _emit(self, payload: bytes) -> None:
        if payload:
            self._file.write(payload)
            self._file.flush()
            self.bytes_written += len(payload)


class WavFile:
    """A WAV file; its header is made exact at the end where the file can seek."""

    def __init__(self, file: BinaryIO, audio: AudioFormat) -> None:
        self._file = file
        self._audio = audio
        self._samples = RawFile(file, audio)
        self._seekable = file.seekable()
        file.write(_wav_header(audio, None))
        file.flush()

    def write(self, payload: bytes) -> None:
        """The next packet."""
        self._samples.write(payload)

    def finish(self, samples_24k: int | None) -> None:
        """Cut the padding, pad the chunk to an even length, make the header exact."""
        self._samples.finish(samples_24k)
        size = self._samples.bytes_written
        if size % 2:
            self._file.write(b"\0")
        if self._seekable:
            self._file.seek(0)
            self._file.write(_wav_header(self._audio, size))
            self._file.seek(0, 2)
        self._file.flush()


class OpusFile:
    """An Ogg Opus file; its end is exact even where it cannot seek."""

    def __init__(self, file: BinaryIO, audio: AudioFormat) -> None:
        self._file = file
        self._packet_samples = audio.frame_ms * 48
        self._ogg = OggOpus(rate=audio.rate, pre_skip=audio.pre_skip, serial=secrets.randbits(32))
        self._emit(self._ogg.head())

    def write(self, payload: bytes) -> None:
        """The next packet."""
        self._emit(self._ogg.packet(payload, self._packet_samples))

    def finish(self, samples_24k: int | None) -> None:
        """The last page."""
        self._emit(self._ogg.finish(None if samples_24k is None else samples_24k * 2))

    def _emit(self, page: bytes) -> None:
        if page:
            self._file.write(page)
            self._file.flush()


def _wav_header(audio: AudioFormat, data_bytes: int | None) -> bytes:
    tag, width = _FORMAT_TAGS[audio.codec], BYTES_PER_SAMPLE[audio.codec]
    rate = audio.rate
    shape = struct.pack("<HHIIHH", tag, 1, rate, rate * width, width, 8 * width)
    chunks = b""
    if tag == 1:
        chunks += b"fmt " + struct.pack("<I", len(shape)) + shape
    else:  # what is not PCM says so: an extension (empty) and its number of samples
        samples = 0 if data_bytes is None else data_bytes // width
        chunks += b"fmt " + struct.pack("<I", len(shape) + 2) + shape + struct.pack("<H", 0)
        chunks += b"fact" + struct.pack("<II", 4, samples)
    data = _UNKNOWN if data_bytes is None else data_bytes
    riff = _UNKNOWN if data_bytes is None else 4 + len(chunks) + 8 + data + data % 2
    return b"RIFF" + struct.pack("<I", riff) + b"WAVE" + chunks + b"data" + struct.pack("<I", data)
