"""Where sound begins.

Knows: amplitudes. Does not know: speech, segments, time.
"""

from __future__ import annotations

import numpy as np

AUDIBLE_AMPLITUDE = 164
"""-46 dBFS in 16 bits: below it nobody hears speech begin at a usual listening level."""


def first_audible(pcm: bytes) -> int | None:
    """Index of the first audible sample of 16-bit mono PCM, or ``None``."""
    loud = np.abs(np.frombuffer(pcm, "<i2").astype(np.int32)) > AUDIBLE_AMPLITUDE
    index = int(loud.argmax()) if loud.size else 0
    return index if loud.size and loud[index] else None
