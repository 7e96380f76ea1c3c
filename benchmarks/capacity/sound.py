"""Audio as nothing but a length, in the place of ``streaming.engine.track``.

Knows: counts of samples. Does not know: what they sound like, pauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from streaming.engine.track import Track
from streaming.messages import Audio, ContextEvent
from streaming.runners.base import Made, Samples
from streaming.segment import Segment

LONGEST_S = 20
SILENCE: Samples = np.zeros(LONGEST_S * 24_000, np.float32)
_BYTES = bytes(2 * len(SILENCE))


class CountedTrack(Track):
    """A message for whatever a step made."""

    def __init__(self, ctx: int, *unused: Any, **also_unused: Any) -> None:
        del unused, also_unused
        self._ctx = ctx
        self._samples = 0

    @property
    def position_samples(self) -> int:
        """How much audio there is."""
        return self._samples

    def add(
        self, segment: Segment, made: Made, *, final: bool, parts: Sequence[Segment] = ()
    ) -> list[ContextEvent]:
        """All of it goes out."""
        del segment, parts
        count = len(made.samples)
        position, self._samples = self._samples, self._samples + count
        pcm = _BYTES[: 2 * count]
        return [Audio(ctx=self._ctx, position_samples=position, pcm=pcm, last=final and made.done)]

    def grow(self, part: Segment) -> list[ContextEvent]:
        """Nothing is told of it."""
        del part
        return []

    def finish(self) -> list[ContextEvent]:
        """Nothing waits."""
        return []
