"""A context's audio on its way out: samples in, messages with exact positions out.

Knows: the order of a segment's messages, and chunks. Does not know: who made the samples, or when
the next are due.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from streaming.audio.chunker import Chunker
from streaming.audio.joiner import SegmentJoiner
from streaming.config import PauseSettings
from streaming.errors import SynthesisFailed
from streaming.messages import Audio, ContextEvent, SegmentGrown, SegmentStarted, Words
from streaming.runners.base import Made
from streaming.segment import Segment
from streaming.text.words import estimate_words

_SAMPLE_BYTES = 2


class Track:
    """One context's stream of segments, joined and cut into chunks."""

    def __init__(self, ctx: int, pauses: PauseSettings, *, words: bool) -> None:
        self._ctx = ctx
        self._words = words
        self._joiner = SegmentJoiner(pauses)
        self._chunker = Chunker()
        self._joined_samples = 0
        self._sent_samples = 0
        self._segment_start = 0
        self._open = False
        self._words_due = self._guess_due = False

    @property
    def position_samples(self) -> int:
        """How much audio there is, with what still waits for its chunk to be full."""
        return self._joined_samples

    def add(
        self, segment: Segment, made: Made, *, final: bool, parts: Sequence[Segment] = ()
    ) -> list[ContextEvent]:
        """What a step made of ``segment``; ``final``: nothing of the context comes after it.

        ``parts``: how it came, where that was not at once.

        Raises:
            SynthesisFailed: the samples are no numbers.
        """
        if not np.isfinite(made.samples).all():
            raise SynthesisFailed("the voice made samples that are no numbers")
        events: list[ContextEvent] = [] if self._open else self._begin(segment, parts)
        pcm = self._joiner.push(made.samples)
        if made.done:
            pcm += self._joiner.end(segment.ending)
            pcm += self._joiner.finish() if final else b""
            self._open = False
        self._joined_samples += len(pcm) // _SAMPLE_BYTES
        events += self._time_words(segment, made)
        events += self._cut(pcm, final=final and made.done)
        return events

    def grow(self, part: Segment) -> list[ContextEvent]:
        """The segment that is being made has one more part."""
        self._guess_due = self._words_due
        return [self._grown(part)] if self._open and part.source else []

    def finish(self) -> list[ContextEvent]:
        """The pause at the end, and what has waited for its chunk to be full."""
        pcm = self._joiner.finish()
        self._joined_samples += len(pcm) // _SAMPLE_BYTES
        return list(self._cut(pcm, final=True))

    def _begin(self, segment: Segment, parts: Sequence[Segment]) -> list[ContextEvent]:
        pause = self._joiner.begin(None if segment.more else segment.ending)
        self._joined_samples += len(pause) // _SAMPLE_BYTES
        before = self._cut(pause, final=False)
        self._open = True
        self._words_due = self._guess_due = self._words
        self._segment_start = self._joined_samples
        first, *others = parts or (segment,)
        at = self._joined_samples
        started = SegmentStarted(ctx=self._ctx, segment=first, position_samples=at)
        return [*before, started, *map(self._grown, others)]

    def _grown(self, part: Segment) -> SegmentGrown:
        at = self._joined_samples
        return SegmentGrown(ctx=self._ctx, part=part, position_samples=at)

    def _time_words(self, segment: Segment, made: Made) -> Iterator[Words]:
        """Words go out before their audio wherever the segment's length is known by then.

        Until it is, those of a segment of the usual length stand in for them.
        """
        length = self._joined_samples - self._segment_start if made.done else made.expected_samples
        if self._words_due and length is not None:
            self._words_due = self._guess_due = False
            yield self._timed(segment, length, provisional=False)
        elif self._words_due and self._guess_due and made.usual_samples:
            self._guess_due = False
            yield self._timed(segment, made.usual_samples, provisional=True)

    def _timed(self, segment: Segment, length_samples: int, *, provisional: bool) -> Words:
        items = estimate_words(segment, self._segment_start, length_samples)
        return Words(
            ctx=self._ctx,
            items=tuple(items),
            source="estimate",
            provisional=provisional,
        )

    def _cut(self, pcm: bytes, *, final: bool) -> Iterator[Audio]:
        chunks = self._chunker.push(pcm) if pcm else []
        if final and (rest := self._chunker.finish()):
            chunks.append(rest)
        for index, chunk in enumerate(chunks):
            last = final and index == len(chunks) - 1
            yield Audio(ctx=self._ctx, position_samples=self._sent_samples, pcm=chunk, last=last)
            self._sent_samples += len(chunk) // _SAMPLE_BYTES
