"""Listeners in simulated time: when they ask, what they hear, how long they were left in silence.

An utterance is a context of a few sentences that arrive as a writing model makes them. Utterances
come one by one (Poisson), in bursts, or as turns of conversations with pauses; some are
interrupted. Knows: messages, the door. Does not know: steps, the device.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.capacity.world import World
from streaming.admission import Admission
from streaming.errors import Overloaded
from streaming.messages import (
    Audio,
    Cancel,
    End,
    Failed,
    Finished,
    Message,
    Open,
    Played,
    Speak,
    Stats,
)
from streaming.samples import SAMPLE_RATE
from streaming.segment import Segment

Call = Callable[[], None]
Arrivals = Literal["poisson", "bursts", "conversations"]

CHAR_S = 0.06
WRITER_CHARS_PER_S = 80.0
"""How quickly a language model writes."""

FIRST_CHARS = (12, 40)
SENTENCE_CHARS = (30, 110)
SENTENCES = (1, 4)
BURST = 8
PAUSE_S = 4.0
"""Mean of a conversation's pauses, in which the other one speaks."""

REPORT_S = 1.0
"""How often a listener says how much was played."""

SOURCE = "x" * 4096


@dataclass(frozen=True)
class Load:
    """What is asked of the engine."""

    offered: float
    """Contexts that would speak at once, on average, if all were served."""
    arrivals: Arrivals = "poisson"
    barge_in: float = 0.3
    seconds: float = 60.0
    counted_from_s: float = 0.0
    """Who asks before this is served, not counted."""
    seed: int = 1


def mean_utterance_s(barge_in: float) -> float:
    """How long a context is listened to."""
    sentences = sum(SENTENCES) / 2
    chars = sum(FIRST_CHARS) / 2 + (sentences - 1) * sum(SENTENCE_CHARS) / 2
    return chars * CHAR_S * (1 - barge_in / 2)


def sessions(load: Load) -> int:
    """How many conversations have so many contexts speaking at once: each is silent for a while."""
    speaks_s = mean_utterance_s(load.barge_in)
    return round(load.offered * (speaks_s + PAUSE_S) / speaks_s)


@dataclass
class Heard:
    """One context, as its listener met it."""

    asked_s: float
    first_s: float | None = None
    dry_s: float = 0.0
    worst_s: float = 0.0
    samples: int = 0
    over: bool = False
    interrupted: bool = False


@dataclass
class Tally:
    """What became of all of them."""

    refused: int = 0
    failed: int = 0
    heard: list[Heard] = field(default_factory=list)


class Crowd:
    """Everybody who listens."""

    def __init__(self, world: World, door: Admission, load: Load, *, learns: bool = True) -> None:
        """``learns``: whether the door is told what the engine says of itself."""
        self.tally = Tally()
        self._world = world
        self._door = door
        self._learns = learns
        self._load = load
        self._random = random.Random(load.seed)  # noqa: S311 - a model of people, no secret
        self._numbers = iter(range(1, 1 << 60))
        self._live: dict[int, Heard] = {}
        world.told = self._hear

    def start(self) -> None:
        """Let them come, until the load's time is over."""
        mean_s = mean_utterance_s(self._load.barge_in)
        if self._load.arrivals == "conversations":
            for _ in range(sessions(self._load)):
                self._world.at(self._random.uniform(0, mean_s + PAUSE_S), self._turn)
            return
        burst = BURST if self._load.arrivals == "bursts" else 1
        self._come(burst, mean_s * burst / self._load.offered)

    def _come(self, burst: int, gap_s: float) -> None:
        if self._world.now() >= self._load.seconds:
            return
        for _ in range(burst):
            self._ask(lambda: None)
        gap_s_now = self._random.expovariate(1 / gap_s)
        self._world.at(self._world.now() + gap_s_now, lambda: self._come(burst, gap_s))

    def _turn(self) -> None:
        if self._world.now() >= self._load.seconds:
            return

        def pause() -> None:
            wait_s = self._random.expovariate(1 / PAUSE_S)
            self._world.at(self._world.now() + wait_s, self._turn)

        self._ask(pause)

    def _ask(self, then: Call) -> None:
        ctx = next(self._numbers)
        now_s = self._world.now()
        counted = now_s >= self._load.counted_from_s
        try:
            self._door.offer(ctx, str(ctx), now_s)
        except Overloaded as refusal:
            self.tally.refused += counted
            if self._load.arrivals == "conversations":
                self._world.at(now_s + (refusal.retry_after_ms or 0) / 1000, self._turn)
            return
        heard = self._live[ctx] = Heard(now_s)
        if counted:
            self.tally.heard.append(heard)
        self._world.tell(Open(ctx=ctx, voice="modelled"))
        length_s = self._write(ctx, now_s)
        if self._random.random() < self._load.barge_in:
            stop_s = now_s + self._random.uniform(0.2, max(0.3, length_s))
            self._world.at(stop_s, lambda: self._interrupt(ctx, then))
        self._world.at(now_s + REPORT_S, lambda: self._report(ctx, then))

    def _write(self, ctx: int, now_s: float) -> float:
        """Its sentences, as they are written; how long it is when spoken."""
        written = total = 0
        for index, chars in enumerate(self._sentences()):
            segment = Segment(
                index=index,
                text=SOURCE[:chars],
                source="",
                char_start=total,
                char_end=total + chars,
                ending="sentence",
            )
            message = Speak(ctx=ctx, segment=segment)
            self._world.at(now_s + written / WRITER_CHARS_PER_S, self._teller(message))
            total += chars
            written = total
        self._world.at(now_s + total / WRITER_CHARS_PER_S, self._teller(End(ctx=ctx)))
        return total * CHAR_S

    def _teller(self, message: Speak | End) -> Call:
        return lambda: self._world.tell(message)

    def _sentences(self) -> Iterator[int]:
        yield self._random.randint(*FIRST_CHARS)
        for _ in range(self._random.randint(*SENTENCES) - 1):
            yield self._random.randint(*SENTENCE_CHARS)

    def _interrupt(self, ctx: int, then: Call) -> None:
        if ctx in self._live:
            self._live[ctx].interrupted = True
            self._world.tell(Cancel(ctx=ctx))
            self._leave(ctx)
            then()

    def _report(self, ctx: int, then: Call) -> None:
        heard = self._live.get(ctx)
        if heard is None:
            return
        now_s = self._world.now()
        left_s = max(0.0, heard.dry_s - now_s)
        if heard.over and not left_s:
            self._leave(ctx)
            then()
            return
        if not heard.over:
            played = heard.samples - round(left_s * SAMPLE_RATE)
            self._world.tell(Played(ctx=ctx, samples=played))
        self._world.at(now_s + min(REPORT_S, left_s or REPORT_S), lambda: self._report(ctx, then))

    def _leave(self, ctx: int) -> None:
        del self._live[ctx]
        self._door.give_back(ctx, self._world.now())

    def _hear(self, message: Message) -> None:
        match message:
            case Audio(ctx=ctx, pcm=pcm) if (heard := self._live.get(ctx)) is not None:
                self._play(heard, len(pcm) // 2)
            case Finished(ctx=ctx) if (heard := self._live.get(ctx)) is not None:
                heard.over = True
            case Failed(ctx=ctx) if ctx in self._live:
                self.tally.failed += 1
                self._leave(ctx)
            case Stats() if self._learns:
                self._door.learn(message, self._world.now())

    def _play(self, heard: Heard, samples: int) -> None:
        now_s = self._world.now()
        if heard.first_s is None:
            heard.first_s = heard.dry_s = now_s
        late_s = max(0.0, now_s - heard.dry_s)
        heard.worst_s = max(heard.worst_s, late_s)
        heard.dry_s = max(now_s, heard.dry_s) + samples / SAMPLE_RATE
        heard.samples += samples
