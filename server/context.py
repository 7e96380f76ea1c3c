"""One context as the server sees it: its text on the way in, its audio on the way out.

Knows: its request, transcript, timing, output, and its half in the engine. Does not know: the
session's other contexts, sequence numbers, sockets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec import UNSET

from server import requests
from server.events import Flushed, SegmentBegins, Warn, WordTime, WordTimes
from server.output import Output
from server.timing import FirstPacketTimer
from server.transcript import Transcript
from streaming.engine.client import EngineContext
from streaming.errors import ContextEnded, TextGap
from streaming.messages import (
    Audio,
    ContextEvent,
    Failed,
    Finished,
    Mark,
    SegmentGrown,
    SegmentStarted,
    Skipped,
    Words,
)
from streaming.segment import Segment

REPORT_SAMPLES = 12_000
"""The engine is told how far the listener is every half second of audio."""

REPORTS = 4
"""And so often at least for as much as it works ahead."""


def ms_of(samples: int) -> int:
    """Samples at 24 kHz as milliseconds."""
    return samples // 24


@dataclass(slots=True)
class Context:
    """State of one context; the session owns it and calls ``close`` on every path."""

    id: str
    sid: int
    voice: str
    request: requests.Open
    engine: EngineContext
    output: Output
    now: Callable[[], float]
    max_ahead_samples: int
    """The engine waits with a context of which so much is made and not reported as heard."""
    transcript: Transcript = field(default_factory=Transcript)
    timer: FirstPacketTimer = field(default_factory=FirstPacketTimer)
    implicit: bool = False
    undecided: bool = False
    """Whether its text may still choose its voice: none was named, and no letter came yet."""
    ended: bool = False
    text_seq: int = 0
    segments: int = 0
    position: int | None = None
    """Its place in the session's queue as last told to the client."""
    sent_48k: int = 0
    starts_48k: int | None = None
    """Where its audio begins on the session's play clock; ``None`` before its first packet."""
    last_seq: int = 0
    underrun_s: float = 0.0
    """The worst lateness of a packet after the first, by the session's play clock."""
    _reported_samples: int = 0
    _warned: bool = False

    # --- in -----------------------------------------------------------------------------

    def append(self, delta: str, seq: int | None) -> None:
        """Take a delta, and its number.

        Raises:
            ContextEnded: after ``end``.
        """
        self._must_be_open("text")
        if seq is not None:
            self.text_seq = seq
        self.transcript.append(delta)
        if delta:
            self.timer.text(self.transcript.chars, self.now())
            self.engine.append(delta)

    def flush(self, flush_id: str) -> None:
        """Let go of all text so far."""
        self._must_be_open("flush")
        self.undecided = False
        self.timer.release(self.transcript.chars, self.now())
        self.engine.flush(flush_id)

    def end(self) -> None:
        """Take no more text."""
        self._must_be_open("end")
        self.ended = True
        self.timer.release(self.transcript.chars, self.now())
        self.engine.end()

    def _must_be_open(self, what: str) -> None:
        if self.ended:
            raise ContextEnded(
                f"{what} for {self.id!r} came after its end; open another context for more text"
            )

    # --- from the engine ----------------------------------------------------------------

    def on_engine(self, event: ContextEvent) -> None:
        """Put what the engine made into the output, in order."""
        if isinstance(event, Audio):
            self.output.put_audio(event.pcm, last=event.last)
        elif isinstance(event, SegmentStarted):
            self._on_segment(event)
        elif isinstance(event, SegmentGrown):
            self._tell_segment(event.part, event.position_samples)
        elif isinstance(event, Words):
            self._on_words(event)
        elif isinstance(event, Mark):
            at_ms = ms_of(event.position_samples)
            self.output.put(Flushed(ctx=self.id, id=event.mark, pts_ms=at_ms))
        elif isinstance(event, Skipped):
            self._warn_nothing(event.segment.source)
        elif isinstance(event, Finished | Failed):
            if isinstance(event, Finished) and not event.samples and not self.segments:
                self._warn_nothing(self.transcript.split(0)[1])
            self.output.put(event)

    def _warn_nothing(self, source: str) -> None:
        if not self._warned:
            self._warned = True
            self.output.put(nothing_to_speak(self.id, source))

    def _on_segment(self, event: SegmentStarted) -> None:
        self.segments += 1
        self.timer.first_segment(event.segment.char_end)
        self.transcript.segment_started(event)
        self._tell_segment(event.segment, event.position_samples)

    def _tell_segment(self, segment: Segment, position_samples: int) -> None:
        """One begins to sound, or has more text."""
        self.output.put(
            SegmentBegins(
                ctx=self.id,
                index=segment.index,
                text=segment.source,
                char_start=segment.char_start,
                char_end=segment.char_end,
                pts_ms=ms_of(position_samples),
            )
        )

    def _on_words(self, event: Words) -> None:
        self.transcript.words(event)
        if event.provisional or not self.request.timestamps:
            return
        items = [
            WordTime(
                text=word.text,
                char_start=word.char_start,
                char_end=word.char_end,
                start_ms=ms_of(word.start_samples),
                end_ms=ms_of(word.end_samples),
            )
            for word in event.items
        ]
        self.output.put(WordTimes(ctx=self.id, items=items, source=event.source))

    # --- out ----------------------------------------------------------------------------

    @property
    def begun(self) -> bool:
        """Whether any of its audio has been sent."""
        return self.starts_48k is not None

    def heard_samples(self, clock_48k: int) -> int:
        """How much of it the listener has had, in samples at 24 kHz."""
        if self.starts_48k is None:
            return 0
        return max(0, min(self.sent_48k, clock_48k - self.starts_48k)) // 2

    def tell_engine(self, clock_48k: int) -> None:
        """Let the engine know how far the listener is, now and then.

        A listener that is sent more ahead than the engine works ahead, as it asked for, counts as
        further on: once all of that is sent no packet is there to report with, so none would come.
        """
        heard = self.heard_samples(clock_48k)
        self.transcript.heard(heard)
        had = max(heard, (self.sent_48k - self.max_ahead_samples) // 2)
        if had - self._reported_samples >= min(REPORT_SAMPLES, self.max_ahead_samples // REPORTS):
            self._reported_samples = had
            self.engine.played(had)

    def close(self) -> None:
        """Stop all work on it, here and in the engine."""
        self.engine.cancel()
        self.output.close()


def is_news(seq: int | None, taken: int) -> bool:
    """Whether a delta of that number, after ``taken`` of them, is not one that was sent again.

    Raises:
        TextGap: a number was skipped.
    """
    if seq is None or seq == taken + 1:
        return True
    if seq <= taken:
        return False
    raise TextGap(f"text {seq} came after {taken}; send again from {taken + 1}")


def nothing_to_speak(ctx: str, source: str) -> Warn:
    """The warning for text that holds no word."""
    shown = source.strip()[:40]
    return Warn(
        code="nothing_to_speak",
        message=f"there is no word to speak in {shown!r}"
        if shown
        else "there was no text to speak",
        ctx=ctx or UNSET,
    )
