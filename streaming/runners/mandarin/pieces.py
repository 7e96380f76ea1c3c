"""Words cut into clauses that are planned at once, clauses into stretches that are made at once.

A clause ends at a mark if it can; most segments are one. Stretches begin short, for a quick first
packet, and grow while what came before them is heard. Knows: how long each may be, how stretches
are joined. Does not know: the model, characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streaming.runners.base import Samples
from streaming.samples import SAMPLE_RATE

FIRST_BEATS = 20
"""Of the first clause of a context: planning takes 1 ms a phoneme, while nobody hears anything."""

LONGEST_BEATS = 45
"""Of any other."""

LONGEST_PHONEMES = 300
"""Of a clause, however few beats it has."""

STRETCH_FRAMES = (48, 64, 96, 160)
"""Frames of 12.5 ms in the first stretch of a clause, the second and so on. Each takes a third of
its length to make, so two contexts that take turns do not run dry."""

SHORTEST_FRAMES = 24
"""What would be left for a last stretch shorter than this is made with the one before."""

FADE_SAMPLES = SAMPLE_RATE * 5 // 1000


@dataclass(frozen=True)
class Word:
    """What is spoken in one go, in the model's letters."""

    phonemes: str
    beats: int
    """Syllables, roughly: how long it takes."""
    mark: str = ""
    """The model's mark for the pause behind it."""


def cut(words: Sequence[Word], *, first: bool) -> tuple[str, ...]:
    """The phonemes of each clause; ``first``: nobody has heard anything of the context yet."""
    clauses: list[str] = []
    rest = list(words)
    while rest:
        count = _take(rest, FIRST_BEATS if first and not clauses else LONGEST_BEATS)
        clauses.append(" ".join(word.phonemes + word.mark for word in rest[:count]))
        del rest[:count]
    return tuple(clauses)


def _take(words: Sequence[Word], limit: int) -> int:
    """How many words the next clause has: to the last mark within the limit, or to the limit."""
    beats = phonemes = fits = marked = 0
    for count, word in enumerate(words, 1):
        beats += word.beats
        phonemes += len(word.phonemes + word.mark) + 1
        if count > 1 and (beats > limit or phonemes > LONGEST_PHONEMES):
            break
        fits = count
        marked = count if word.mark else marked
    return fits if fits == len(words) else marked or fits


def next_end(begin: int, end: int, made: int) -> int:
    """Where the stretch that begins at frame ``begin`` ends, of a clause that ends at ``end``."""
    frames = STRETCH_FRAMES[min(made, len(STRETCH_FRAMES) - 1)]
    return end if end - begin < frames + SHORTEST_FRAMES else begin + frames


def fade(samples: Samples, *, start: bool, stop: bool) -> Samples:
    """The samples, rising from silence and falling to it where a clause begins and ends."""
    length = min(FADE_SAMPLES, len(samples))
    ramp = np.linspace(0.0, 1.0, length, dtype=np.float32)
    faded = samples.copy()
    if start:
        faded[:length] *= ramp
    if stop:
        faded[len(faded) - length :] *= ramp[::-1]
    return faded
