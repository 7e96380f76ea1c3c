"""A context's 24 kHz PCM becomes packets of one length: no hole, no overlap, nothing lost.

Knows: remainders, padding at the very end, timestamps. Does not know: when a packet is sent, or
how it is framed on the wire.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streaming.audio.codec import open_coder
from streaming.audio.format import AudioFormat
from streaming.audio.pcm import SAMPLE_BYTES, from_bytes, to_bytes
from streaming.audio.resample import Resampler
from streaming.samples import SAMPLE_RATE

SILENCE_PEAK = 33
"""16-bit amplitude (-60 dBFS) up to which a packet counts as silence."""


@dataclass(frozen=True)
class Packet:
    """One encoded payload; ``pts_48k`` is that of its first sample, from the context's start."""

    payload: bytes
    pts_48k: int
    duration_48k: int
    first: bool
    last: bool
    silence: bool


class Packetizer:
    """One context's audio from its beginning to its end, through one encoder.

    The last packet is filled up with silence, and nothing else is. Opus sounds late by its
    lookahead: so much is coded on top that nothing is missing once the decoder has dropped it.
    Audio at another rate lags by what the resampler looks ahead (below 15 ms).
    """

    def __init__(self, format: AudioFormat) -> None:  # noqa: A002 - it is what it is called
        self.format = format
        self.samples_in = 0
        """Samples at 24 kHz taken so far."""
        self._coder = open_coder(format)
        self._resampler = Resampler(SAMPLE_RATE, self._coder.rate)
        self._packet_bytes = self._coder.rate * format.frame_ms // 1000 * SAMPLE_BYTES
        self._carried = bytearray()
        self._packets = 0
        self._ended = False

    def push(self, pcm: bytes, *, last: bool = False) -> list[Packet]:
        """The packets that are full now; with ``last`` also those that end the context.

        Raises:
            ValueError: for half a sample, or after the end.
        """
        self._check_open()
        samples = from_bytes(pcm)
        self.samples_in += len(samples)
        self._carried += to_bytes(self._resampler.push(samples))
        return self.finish() if last else self._drain(ending=False)

    def finish(self) -> list[Packet]:
        """What is left, filled up with silence; nothing for a context that had no audio.

        Raises:
            ValueError: after the end.
        """
        self._check_open()
        self._ended = True
        if not self.samples_in:
            return []
        self._carried += to_bytes(self._resampler.finish())
        self._carried += bytes(self._coder.lookahead_samples * SAMPLE_BYTES)
        self._carried += bytes(-len(self._carried) % self._packet_bytes)
        return self._drain(ending=True)

    def close(self) -> None:
        """Free the encoder, at any moment, from any thread and any number of times.

        A ``push`` that is running in another thread then stops with a ``ValueError``.
        """
        self._ended = True
        self._coder.close()

    def _drain(self, *, ending: bool) -> list[Packet]:
        size = self._packet_bytes
        whole = len(self._carried) // size
        pieces = [bytes(self._carried[i * size : (i + 1) * size]) for i in range(whole)]
        del self._carried[: whole * size]
        return [self._packet(p, last=ending and i == whole - 1) for i, p in enumerate(pieces)]

    def _packet(self, pcm: bytes, *, last: bool) -> Packet:
        index = self._packets
        self._packets += 1
        return Packet(
            payload=self._coder.encode(pcm),
            pts_48k=index * self.format.packet_48k,
            duration_48k=self.format.packet_48k,
            first=index == 0,
            last=last,
            silence=bool(np.abs(from_bytes(pcm).astype(np.int32)).max() <= SILENCE_PEAK),
        )

    def _check_open(self) -> None:
        if self._ended:
            raise ValueError("the context's audio has ended")
