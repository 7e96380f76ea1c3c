"""Phonemes too long for one go of the embedded voice, and the clips made of their pieces.

Knows: where phonemes can be cut, and what silence a clip has around it. Does not know: the voice.
"""

from __future__ import annotations

import re

import numpy as np

from streaming.runners.base import Samples
from streaming.samples import SAMPLE_RATE

LONGEST_PIECE = 256
"""Phonemes: 15 s of speech, 90 ms of one core. A sentence seldom has so many."""

SEAM_SAMPLES = SAMPLE_RATE * 60 // 1000
"""What is kept of a clip's silence on either side of a cut."""

AUDIBLE = 0.005

_CLAUSE = re.compile(r"(?<=[,;:—.!?…]) ")


def split_phonemes(phonemes: str) -> tuple[str, ...]:
    """Pieces of at most ``LONGEST_PIECE``, cut after a clause if they can, else between words."""
    pieces = []
    while len(phonemes) > LONGEST_PIECE:
        cut = _place_to_cut(phonemes[: LONGEST_PIECE + 1])
        pieces.append(phonemes[:cut].strip())
        phonemes = phonemes[cut:].strip()
    return (*pieces, phonemes) if phonemes else tuple(pieces)


def _place_to_cut(window: str) -> int:
    half = LONGEST_PIECE // 2
    clauses = [found.start() for found in _CLAUSE.finditer(window) if found.start() >= half]
    if clauses:
        return clauses[-1]
    space = window.rfind(" ", 1)
    return space if space > 0 else LONGEST_PIECE


def join_piece(samples: Samples, *, first: bool, last: bool) -> Samples:
    """The clip with the silence cut away that would make a hole within the segment."""
    audible = np.flatnonzero(np.abs(samples) > AUDIBLE)
    if not len(audible):
        return samples
    start = 0 if first else max(0, int(audible[0]) - SEAM_SAMPLES)
    end = len(samples) if last else min(len(samples), int(audible[-1]) + SEAM_SAMPLES)
    return samples[start:end]
