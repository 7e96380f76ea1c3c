"""The four codecs behind one face: a packet's worth of PCM in, its payload out.

Knows: which encoder a format means and the rate it wants. Does not know: packets' timestamps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from streaming.audio.format import AudioFormat
from streaming.audio.opus import OpusEncoder
from streaming.audio.pcm import Int16, encode_alaw, encode_mulaw, from_bytes, to_bytes
from streaming.samples import SAMPLE_RATE


class Coder(Protocol):
    """Encodes one continuous stream of 16-bit mono PCM."""

    @property
    def rate(self) -> int:
        """Of the PCM it takes."""
        ...

    @property
    def lookahead_samples(self) -> int:
        """How far the decoded sound lags behind, at ``rate``."""
        ...

    def encode(self, pcm: bytes) -> bytes:
        """The payload of one packet."""
        ...

    def close(self) -> None:
        """Free it, any number of times."""
        ...


class _Stateless:
    """A codec that is a function from samples to bytes."""

    lookahead_samples = 0

    def __init__(self, rate: int, encode: Callable[[Int16], bytes]) -> None:
        self.rate = rate
        self._encode = encode

    def encode(self, pcm: bytes) -> bytes:
        return self._encode(from_bytes(pcm))

    def close(self) -> None:
        """Nothing to free."""


def open_coder(audio: AudioFormat) -> Coder:
    """A fresh coder, its state its own.

    Opus is encoded from 24 kHz whatever rate was asked for: its decoders play every stream at
    every rate, so a lower one only narrows the band, and nothing waits for a resampler.
    """
    match audio.codec:
        case "opus":
            return OpusEncoder(
                SAMPLE_RATE,
                bitrate=audio.bitrate,
                complexity=audio.complexity,
                fec=audio.fec,
                dtx=audio.dtx,
                bandwidth_rate=min(audio.rate, SAMPLE_RATE),
            )
        case "pcm_s16le":
            return _Stateless(audio.rate, to_bytes)
        case "mulaw":
            return _Stateless(audio.rate, encode_mulaw)
        case "alaw":
            return _Stateless(audio.rate, encode_alaw)
