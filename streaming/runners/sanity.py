"""Whether what a small voice made can be speech at all, or the model has lost its way.

Knows: bounds that no speech passes. Does not know: which voice it was.
"""

from __future__ import annotations

import numpy as np

from streaming.errors import SynthesisFailed
from streaming.runners.base import Samples, Work
from streaming.samples import SAMPLE_RATE

SHORTEST_S = 0.05
LONGEST_S = 2.0
"""What anything may take beside its phonemes: silence around it, a pause."""

LOUDEST = 4.0
"""Samples lie within 0.5; a little over 1 would be clipped, this far over it is no speech."""


def require_length(work: Work, samples: int, phonemes: int, phoneme_s: float) -> None:
    """Do nothing if so many phonemes may take so long, at ``phoneme_s`` each at the most.

    Raises:
        SynthesisFailed: they cannot.
    """
    length_s = samples / SAMPLE_RATE
    longest_s = LONGEST_S + phonemes * phoneme_s / work.speed
    if not SHORTEST_S <= length_s <= longest_s:
        raise SynthesisFailed(f"the voice made {length_s:.2f} s of {work.segment.text[:80]!r}")


def require_speech(work: Work, samples: Samples) -> None:
    """Do nothing if the samples are no louder than speech can be.

    Raises:
        SynthesisFailed: they are, or are no numbers.
    """
    if not np.abs(samples).max() <= LOUDEST:  # so also where it is not a number
        raise SynthesisFailed(f"the voice made noise of {work.segment.text[:80]!r}")
