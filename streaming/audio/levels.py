"""How loud speech is every 20 ms, as a mouth would show it.

Knows: RMS, decibels and where a mouth is shut and wide open. Does not know: packets, messages.
"""

from __future__ import annotations

import numpy as np

from streaming.audio.pcm import FULL_SCALE, SAMPLE_BYTES, Int16, from_bytes
from streaming.samples import SAMPLE_RATE

STEP_MS = 20
STEP_SAMPLES = SAMPLE_RATE * STEP_MS // 1000

SHUT_DBFS = -60.0
"""RMS at and below which the level is 0: room noise."""
OPEN_DBFS = -10.0
"""RMS at and above which it is 1: vowels of speech that peaks near full scale."""
_DECIMALS = 3


class LevelMeter:
    """Loudness of a context's audio: linear in decibels from -60 dBFS (0) to -10 dBFS (1).

    Loudness is heard about in proportion to decibels, so a mouth driven by it moves as it sounds:
    usual speech is between 0.5 and 0.9, a pause is 0.
    """

    def __init__(self) -> None:
        self._carried = b""

    def push(self, pcm: bytes) -> list[float]:
        """A level for each whole 20 ms of 24 kHz PCM so far; the remainder is carried over."""
        data = self._carried + pcm
        whole = len(data) // (STEP_SAMPLES * SAMPLE_BYTES) * STEP_SAMPLES * SAMPLE_BYTES
        self._carried = data[whole:]
        return _levels(from_bytes(data[:whole]).reshape(-1, STEP_SAMPLES)) if whole else []

    def finish(self) -> list[float]:
        """One more level for a last step that is not whole, if there is one."""
        rest, self._carried = from_bytes(self._carried), b""
        return _levels(rest.reshape(1, -1)) if len(rest) else []


def _levels(steps: Int16) -> list[float]:
    """Levels of the rows of ``(steps, samples)``."""
    rms = np.sqrt(np.mean(np.square(steps.astype(np.float32) / FULL_SCALE), axis=1))
    dbfs = 20 * np.log10(np.maximum(rms, 1e-6))
    levels = np.clip((dbfs - SHUT_DBFS) / (OPEN_DBFS - SHUT_DBFS), 0.0, 1.0)
    return [round(float(level), _DECIMALS) for level in levels]
