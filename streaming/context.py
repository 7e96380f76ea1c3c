"""One context's state machine: what waits to be spoken, how much is made, when it is needed.

Pure: whoever calls says what time it is. Seconds are those of the engine's clock; audio is counted
in samples at 24 kHz. Does not know: runners, processes, what the audio holds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from streaming.growing import joined
from streaming.messages import Open
from streaming.samples import SAMPLE_RATE
from streaming.segment import Segment
from streaming.steps import Want

HASTY_S = 1.0
"""Whoever has taken so much more audio than can be heard in the time does not listen to it, but
makes a file."""


@dataclass
class Pending:
    """A segment that waits, and when it came; one that comes in parts grows."""

    segment: Segment
    arrived_s: float
    """When it came; of one in parts, when the last part came that had to be waited for."""
    parts: tuple[Segment, ...] = ()
    """What had come by ``arrived_s``, as one, and each part since."""

    def __post_init__(self) -> None:
        """A whole segment is one part."""
        self.parts = self.parts or (self.segment,)

    def grow(self, part: Segment, now_s: float, *, awaited: bool) -> None:
        """More of it has come; ``awaited``: before that, nothing was left to do."""
        self.segment = joined(self.segment, part)
        if awaited:
            self.arrived_s = now_s
            self.parts = (self.segment,)
        elif part.source:
            self.parts = (*self.parts, part)


@dataclass(frozen=True)
class Mark:
    """A place in the queue of which the owner wants to be told."""

    name: str


@dataclass
class Context:
    """State of one context in the engine."""

    open: Open
    audible_s: float
    """When the listener can hear it at the earliest: those before it in its session still play."""
    first_packet_target_s: float
    queue: deque[Pending | Mark] = field(default_factory=deque)
    wants: dict[str, Want] = field(default_factory=dict)
    """The steps that could be launched for the segment in work, by stage."""
    produced_samples: int = 0
    played_samples: int = 0
    compute_s: float = 0.0
    ended: bool = False
    parked: bool = False
    voice_ready: bool = True
    starved: bool = False
    """Whether nothing more can be made of the segment in work before more of its text comes."""
    start_s: float = 0.0
    """How long a segment takes from its beginning to its first audio, with others beside it."""
    waited_s: float = 0.0
    """How long its listener was left in silence in its midst, all in all."""
    hasty: bool = False
    """Whether audio is taken faster than it can be heard: a file is being made."""
    _begun_s: float = 0.0
    """When the first sample could be heard."""
    _origin_s: float | None = None
    """When the first sample was heard, or would have been had the listener never run dry."""

    @property
    def started(self) -> bool:
        """Whether any audio has been made."""
        return self.produced_samples > 0

    @property
    def awaited(self) -> bool:
        """Whether its listener hears nothing: none of it is made, and nothing before it plays."""
        head = self.head
        return not self.started and head is not None and self.audible_s <= head.arrived_s

    @property
    def head(self) -> Pending | None:
        """The segment to work on."""
        if self.queue and isinstance(first := self.queue[0], Pending):
            return first
        return None

    @property
    def growing(self) -> Pending | None:
        """The newest segment, if more parts of it will come."""
        if self.queue and isinstance(last := self.queue[-1], Pending) and last.segment.more:
            return last
        return None

    @property
    def segments(self) -> int:
        """How many segments wait, the one in work included."""
        return sum(isinstance(item, Pending) for item in self.queue)

    @property
    def asked_s(self) -> float:
        """When the text in work came; what was silent before that had nothing to say."""
        return self.head.arrived_s if self.head is not None else float("inf")

    @property
    def on_last_segment(self) -> bool:
        """Whether no segment comes after the head, now or later."""
        return self.ended and self.segments == 1

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do, now or later."""
        return self.ended and not self.queue

    def runnable(self, max_ahead_s: float) -> bool:
        """Whether a step may be launched for it now.

        Not where its audio is ``max_ahead_s`` or more ahead of what its listener has had.
        """
        if self.parked or not self.voice_ready:
            return False
        ahead_s = (self.produced_samples - self.played_samples) / SAMPLE_RATE
        return ahead_s < max_ahead_s and self.head is not None

    def produced(self, samples: int, now_s: float) -> None:
        """So much more audio is out."""
        if samples and self._origin_s is None:
            self._origin_s = self._begun_s = max(now_s, self.audible_s)
        elif samples and (dry_s := self.dry_s(now_s)) < now_s:
            self.waited_s += now_s - max(dry_s, self.asked_s)
            self._origin_s = now_s - self.produced_samples / SAMPLE_RATE
        self.produced_samples += samples

    def played(self, samples: int, now_s: float) -> None:
        """The listener has had so much; never more than there is, never less than before.

        Who takes audio faster than it can be heard has no earlier deadlines for that.
        """
        samples = min(samples, self.produced_samples)
        if samples <= self.played_samples:
            return  # no news; a listener who stands still does not put the deadline off
        origin_s = now_s - samples / SAMPLE_RATE
        if not self.played_samples:
            self._begun_s = min(self._begun_s, origin_s)
        self.played_samples = samples
        self.hasty = origin_s < self._begun_s - HASTY_S
        self._origin_s = max(origin_s, self._begun_s)

    def start_in(self, delay_s: float, now_s: float) -> None:
        """Its turn to be heard comes in so long."""
        self.audible_s = now_s + delay_s
        if self._origin_s is not None and not self.played_samples:
            self._origin_s = self._begun_s = self.audible_s

    def dry_s(self, now_s: float) -> float:
        """The playback deadline: when the listener runs dry if nothing more is made."""
        origin = max(now_s, self.audible_s) if self._origin_s is None else self._origin_s
        return origin + self.produced_samples / SAMPLE_RATE

    def deadline_s(self, now_s: float) -> float:
        """When the audio of the segment at the head is needed.

        A listener who already heard silence when the text came (the first segment, or text that
        came late) is owed an answer within the first packet's target; any other is owed the next
        sample before the last one is played.
        """
        head = self.head
        assert head is not None, "only a context with work has a deadline"
        if self.produced_samples:
            dry_s = self.dry_s(now_s)
            if dry_s >= head.arrived_s:
                return dry_s
        owed_s = max(self.first_packet_target_s, self.start_s)  # nobody is owed what cannot be done
        return max(head.arrived_s + owed_s, self.audible_s)
