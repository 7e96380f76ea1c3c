"""RIFF WAVE, 16-bit mono at 24 kHz: for a length that is known, and for one that is not yet.

Knows: the 44 bytes before the samples. Does not know: who reads them.
"""

from __future__ import annotations

import struct

from streaming.audio.pcm import SAMPLE_BYTES
from streaming.samples import SAMPLE_RATE

HEADER_BYTES = 44
UNKNOWN = 0xFFFFFFFF
"""The length of a file that is still being made: readers that know it go on to the end."""
_FORMAT_PCM = 1


def wav_header(data_bytes: int | None, rate: int = SAMPLE_RATE) -> bytes:
    """The header of 16-bit mono PCM; ``None`` where the length is not known yet."""
    riff_bytes = UNKNOWN if data_bytes is None else data_bytes + HEADER_BYTES - 8
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        riff_bytes,
        b"WAVE",
        b"fmt ",
        16,
        _FORMAT_PCM,
        1,
        rate,
        rate * SAMPLE_BYTES,
        SAMPLE_BYTES,
        8 * SAMPLE_BYTES,
        b"data",
        UNKNOWN if data_bytes is None else data_bytes,
    )


def wav_file(pcm: bytes, rate: int = SAMPLE_RATE) -> bytes:
    """A whole file, its lengths exact: any reader takes it."""
    return wav_header(len(pcm), rate) + pcm


class WavStream:
    """A file whose length nobody knows when its header leaves: it says 0xFFFFFFFF."""

    media_type = "audio/wav"

    def __init__(self) -> None:
        self._begun = False

    def push(self, pcm: bytes) -> bytes:
        """The samples, after the header the first time.

        Raises:
            ValueError: for half a sample.
        """
        if len(pcm) % SAMPLE_BYTES:
            raise ValueError(f"{len(pcm)} bytes are no whole number of 16-bit samples")
        return self._header() + pcm

    def finish(self) -> bytes:
        """Nothing more, but the header where there was no audio at all."""
        return self._header()

    def close(self) -> None:
        """Nothing to free."""

    def _header(self) -> bytes:
        header = b"" if self._begun else wav_header(None)
        self._begun = True
        return header
