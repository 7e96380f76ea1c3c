"""Where a segment's speech begins and ends.

Knows: thresholds. Does not know: pauses, fades, what is done with the silence.

Levels are 16-bit amplitudes. Nobody hears -60 dBFS, so trimming at the start only asks for that
much, or for twice the noise that the segment begins with, where a recording is noisy. The end of
speech is measured against its own peak, so that the same words spoken softly are cut at the same
place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streaming.audio.pcm import Int16
from streaming.samples import SAMPLE_RATE

ONSET_MIN = 33
"""-60 dBFS."""
ONSET_MAX = 98
"""-50 dBFS: whatever reaches it is speech, however noisy the start."""
NOISE_SAMPLES = SAMPLE_RATE // 100
"""The first 10 ms tell the noise; no model and no recording starts to speak within them."""
OFFSET_MIN = 10
"""-70 dBFS."""
OFFSET_OF_PEAK = 0.01
"""Speech 40 dB below its own peak is over."""


class Onset:
    """Drops a segment's leading silence but for the last ``keep_samples`` of it."""

    def __init__(self, keep_samples: int) -> None:
        self.found = False
        self.noise = 0
        """Peak of the first 10 ms, where they were not speech."""
        self._keep_samples = keep_samples
        self._waiting: Int16 = np.zeros(0, np.int16)
        self._threshold: int | None = None

    def push(self, samples: Int16) -> Int16:
        """What is to be heard of these samples and of those kept back before them."""
        if self.found:
            return samples
        waiting = np.concatenate((self._waiting, samples))
        threshold = self._learn(waiting)
        audible = np.flatnonzero(np.abs(waiting) >= threshold)
        if len(audible):
            self.found = True
            self._waiting = waiting[:0]
            return waiting[max(0, int(audible[0]) - self._keep_samples) :]
        if self._threshold is not None:
            waiting = waiting[max(0, len(waiting) - self._keep_samples) :]
        self._waiting = waiting
        return waiting[:0]

    def _learn(self, start: Int16) -> int:
        """The threshold; while the noise is not known yet, what is speech in any case."""
        if self._threshold is None and len(start) >= NOISE_SAMPLES:
            noise = int(np.abs(start[:NOISE_SAMPLES]).max())
            self._threshold = min(max(2 * noise, ONSET_MIN), ONSET_MAX)
            self.noise = noise if noise < ONSET_MAX else 0
        return ONSET_MAX if self._threshold is None else self._threshold


class Offset:
    """Follows how much silence the audible part of a segment has behind it so far."""

    def __init__(self, noise: int) -> None:
        self.silent_samples = 0
        self._floor = min(max(OFFSET_MIN, 2 * noise), ONSET_MAX)
        self._peak = 0

    def push(self, samples: Int16) -> None:
        """Take these samples into account."""
        if not len(samples):
            return
        loudness: NDArray[np.int16] = np.abs(samples)
        peaks = np.maximum.accumulate(np.maximum(loudness, self._peak))
        self._peak = int(peaks[-1])
        heard = np.flatnonzero(loudness >= np.maximum(peaks * OFFSET_OF_PEAK, self._floor))
        if len(heard):
            self.silent_samples = len(samples) - 1 - int(heard[-1])
        else:
            self.silent_samples += len(samples)
