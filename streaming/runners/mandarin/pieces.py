"""Words cut into pieces that are spoken one at a time, and the clips made of them put together.

The first piece of a context is short, for a quick first packet; each later one may be longer, since
it is made while those before it are heard. A piece ends at a mark if it can, else between words.
Knows: where to cut, what silence belongs at a cut. Does not know: the model, characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streaming.messages import SAMPLE_RATE
from streaming.runners.base import Samples
from streaming.runners.mandarin.script import Word

FIRST_BEATS = (5, 10)
"""Of a context's first pieces: each takes less time to make than the one before it is heard."""

LONGEST_BEATS = 18
"""Of any other. A clause that is cut between words is harder to understand, so few are."""

LONGEST_PHONEMES = 200
"""Of a piece, however few beats it has; the model takes 510."""

AUDIBLE = 0.005
FADE_SAMPLES = SAMPLE_RATE * 8 // 1000
_SEAM_MS = {"": 15, ",": 140, ";": 200, ":": 200, "—": 200, "…": 250, ".": 250, "!": 250, "?": 250}
"""Silence between two pieces, by the mark at the end of the first."""


@dataclass(frozen=True)
class Piece:
    """Phonemes spoken in one go, and the mark they end in (none: in the middle of a clause)."""

    phonemes: str
    mark: str


def cut(words: Sequence[Word], *, first: bool) -> tuple[Piece, ...]:
    """The words as pieces, none of them empty; ``first``: nobody has heard anything yet."""
    pieces: list[Piece] = []
    limits = FIRST_BEATS if first else ()
    rest = list(words)
    while rest:
        limit = limits[len(pieces)] if len(pieces) < len(limits) else LONGEST_BEATS
        count = _take(rest, limit)
        pieces.append(_piece(rest[:count]))
        del rest[:count]
    return tuple(pieces)


def _take(words: Sequence[Word], limit: int) -> int:
    """How many words the next piece has: to the last mark within the limit, or to the limit."""
    beats = phonemes = fits = marked = 0
    for count, word in enumerate(words, 1):
        beats += word.beats
        phonemes += len(word.phonemes) + 2
        if count > 1 and (beats > limit or phonemes > LONGEST_PHONEMES):
            break
        fits = count
        marked = count if word.mark else marked
    if fits == len(words) or not marked:
        return fits
    return marked


def _piece(words: Sequence[Word]) -> Piece:
    phonemes = " ".join(word.phonemes + word.mark for word in words)
    return Piece(phonemes, words[-1].mark)


def join(samples: Samples, mark: str, *, first: bool, last: bool) -> Samples:
    """The clip without its own silence, but for the pause that ``mark`` asks for behind it."""
    audible = np.flatnonzero(np.abs(samples) > AUDIBLE)
    if not len(audible):
        return samples
    start = 0 if first else max(0, int(audible[0]) - FADE_SAMPLES)
    end = len(samples) if last else min(len(samples), int(audible[-1]) + FADE_SAMPLES)
    clip = samples[start:end].copy()
    ramp = np.linspace(0.0, 1.0, min(FADE_SAMPLES, len(clip)), dtype=np.float32)
    if not first:
        clip[: len(ramp)] *= ramp
    if last:
        return clip
    clip[len(clip) - len(ramp) :] *= ramp[::-1]
    pause = np.zeros(SAMPLE_RATE * _SEAM_MS[mark] // 1000, np.float32)
    return np.concatenate([clip, pause])
