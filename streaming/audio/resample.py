"""From one rate to another while the sound is still coming, without drift.

Knows: soxr, and how many samples there must be in the end. Does not know: packets, codecs.
"""

from __future__ import annotations

import numpy as np
import soxr

from streaming.audio import pcm
from streaming.audio.pcm import Float32, Int16

_QUALITY = "MQ"
"""Flat to 0.8 of the lower band edge or more, and it looks ahead 8 to 15 ms, not the 11 to 19 of
HQ: what it looks ahead a listener waits for."""


class Resampler:
    """One stream of 16-bit mono; equal rates pass through untouched.

    In all it gives ``round(samples in * out_rate / in_rate)`` samples, however they were cut.
    """

    def __init__(self, in_rate: int, out_rate: int) -> None:
        self.in_rate = in_rate
        self.out_rate = out_rate
        self._samples_in = 0
        self._samples_out = 0
        # In floats: soxr's 16-bit output is dithered, so silence would not stay silence.
        self._stream = (
            None
            if in_rate == out_rate
            else soxr.ResampleStream(in_rate, out_rate, 1, dtype="float32", quality=_QUALITY)
        )

    def push(self, samples: Int16 | bytes) -> Int16:
        """What can be said by now of the sound so far."""
        taken = pcm.from_bytes(samples) if isinstance(samples, bytes) else samples
        return self._convert(taken, last=False)

    def finish(self) -> Int16:
        """The rest; nothing may be pushed after it."""
        rest = self._convert(np.zeros(0, pcm.INT16), last=True)
        due = self._due_samples() - (self._samples_out - len(rest))
        fitted = np.zeros(due, pcm.INT16)
        fitted[: len(rest)] = rest[:due]
        self._samples_out += due - len(rest)
        return fitted

    def _convert(self, samples: Int16, *, last: bool) -> Int16:
        self._samples_in += len(samples)
        converted = samples
        if self._stream is not None:
            floats: Float32 = self._stream.resample_chunk(pcm.to_float(samples), last)
            converted = pcm.from_float(floats)
        self._samples_out += len(converted)
        return converted

    def _due_samples(self) -> int:
        return (2 * self._samples_in * self.out_rate + self.in_rate) // (2 * self.in_rate)
