"""Where in a recording somebody speaks, by how loud it is.

Every threshold is relative to the recording's own loud and quiet parts: a fixed one trims a quiet
recording to nothing and leaves the noise of a loud one. Knows: levels in decibels. Does not know:
what is done with what is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.audio.pcm import Float32
from streaming.samples import SAMPLE_RATE

FRAME_SAMPLES = SAMPLE_RATE // 50
STEP_SAMPLES = SAMPLE_RATE // 100

OVER_NOISE_DB = 6.0
UNDER_SPEECH_DB = (15.0, 40.0)
"""However loud the noise, what is within the first of the loud parts is speech; however quiet,
what is beyond the second is none."""

KEPT_BEFORE_SAMPLES = SAMPLE_RATE * 15 // 100
KEPT_AFTER_SAMPLES = SAMPLE_RATE * 20 // 100
"""Soft beginnings and endings lie below any threshold."""

_NOTHING = 1e-14


@dataclass(frozen=True)
class Speech:
    """The stretch ``[begin, end)`` in samples, and how far its loud and quiet parts lie apart."""

    begin: int
    end: int
    heard_samples: int
    """Of it, without what is kept around it."""
    range_db: float


def find_speech(samples: Float32) -> Speech:
    """From the first loud frame to the last, with something around it."""
    levels = _levels_db(samples)
    quiet, loud = np.percentile(levels, (5, 99))
    least, most = UNDER_SPEECH_DB
    threshold = np.clip(quiet + OVER_NOISE_DB, loud - most, loud - least)
    heard = np.flatnonzero(levels >= threshold)
    first, last = int(heard[0]), int(heard[-1])
    low, high = np.percentile(levels[first : last + 1], (5, 95))
    begin, end = first * STEP_SAMPLES, min(last * STEP_SAMPLES + FRAME_SAMPLES, len(samples))
    return Speech(
        begin=max(0, begin - KEPT_BEFORE_SAMPLES),
        end=min(len(samples), end + KEPT_AFTER_SAMPLES),
        heard_samples=end - begin,
        range_db=float(high - low),
    )


def _levels_db(samples: Float32) -> NDArray[np.float64]:
    """Of frames of 20 ms, one every 10 ms."""
    padded = np.pad(samples.astype(np.float64), (0, max(0, FRAME_SAMPLES - len(samples))))
    sums = np.concatenate(([0.0], np.cumsum(padded**2)))
    begins = np.arange(0, len(padded) - FRAME_SAMPLES + 1, STEP_SAMPLES)
    powers = (sums[begins + FRAME_SAMPLES] - sums[begins]) / FRAME_SAMPLES
    levels: NDArray[np.float64] = 10 * np.log10(np.maximum(powers, _NOTHING))
    return levels
