"""Listeners beside the engine, in its own process and thread: each speaks without pause.

A listener opens its next context shortly before it has heard the last, so that the next first
packet is waited for in silence only where it is late. Each has a voice of its own. Knows: messages.
Does not know: steps, the device, admission (everybody is let in).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.load.arrivals import COVER_S
from benchmarks.load.texts import text_for
from benchmarks.models.desk import Desk, segments
from streaming.messages import (
    Audio,
    Cancel,
    End,
    Failed,
    Finished,
    Message,
    Open,
    Played,
    Released,
    Speak,
)
from streaming.samples import SAMPLE_RATE

REPORT_S = 0.5
"""How often a listener says how much was played."""

AGAIN_S = 0.5
"""After a failure."""


@dataclass(eq=False)
class Heard:
    """One context, as its listener met it."""

    listener: int
    asked_s: float
    voice_is_new: bool
    """Nobody has spoken with it before: the device makes it first."""
    first_s: float | None = None
    dry_s: float = 0.0
    """When the listener has heard all that came."""
    worst_s: float = 0.0
    """The longest silence within it."""
    samples: int = 0
    over: bool = False

    def take(self, samples: int, now_s: float) -> None:
        """A chunk arrives."""
        if self.first_s is None:
            self.first_s = self.dry_s = now_s
        self.worst_s = max(self.worst_s, now_s - self.dry_s)
        self.dry_s = max(now_s, self.dry_s) + samples / SAMPLE_RATE
        self.samples += samples

    def played(self, now_s: float) -> int:
        """Samples that the listener has heard."""
        return self.samples - round(max(0.0, self.dry_s - now_s) * SAMPLE_RATE)


@dataclass
class Tally:
    """What became of all of them."""

    heard: list[Heard] = field(default_factory=list)
    compute_s: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)


class Crowd:
    """Everybody who listens in one case; ``known`` voices are those that somebody spoke with."""

    def __init__(self, desk: Desk, voices: Sequence[str], known: set[str], first_ctx: int) -> None:
        self.tally = Tally()
        self.next_ctx = first_ctx
        self._desk = desk
        self._voices = voices
        self._known = known
        self._said: Counter[int] = Counter()
        self._live: dict[int, Heard] = {}
        self._leaving: set[int] = set()
        desk.told = self._hear

    @property
    def gone(self) -> bool:
        """Whether the engine has let go of everything."""
        return not self._live and not self._leaving

    def start(self, count: int, ramp_s: float) -> None:
        """Let so many come, one after another."""
        begin_s = self._desk.now()
        for listener in range(count):
            self._ask_at(listener, begin_s + ramp_s * listener / count)

    def leave(self) -> None:
        """Let everybody go, whatever is still to be heard."""
        self._desk.clear()
        now_s = self._desk.now()
        for ctx, heard in self._live.items():
            if not heard.over and heard.first_s is not None:
                heard.worst_s = max(heard.worst_s, now_s - heard.dry_s)
            if not heard.over:
                self._desk.tell(Cancel(ctx=ctx))
                self._leaving.add(ctx)
        self._live = {}

    def _ask_at(self, listener: int, when_s: float) -> None:
        self._desk.at(when_s, lambda: self._ask(listener, when_s))

    def _ask(self, listener: int, asked_s: float) -> None:
        """``asked_s`` is when it was meant to: where the engine is late to look, that counts."""
        ctx, self.next_ctx = self.next_ctx, self.next_ctx + 1
        voice = self._voices[listener]
        heard = self._live[ctx] = Heard(listener, asked_s, voice not in self._known)
        self.tally.heard.append(heard)
        self._desk.tell(Open(ctx=ctx, voice=voice, seed=ctx))
        for segment in segments(text_for(listener, self._said[listener])):
            self._desk.tell(Speak(ctx=ctx, segment=segment))
        self._desk.tell(End(ctx=ctx))
        self._said[listener] += 1
        self._desk.at(asked_s + REPORT_S, lambda: self._report(ctx))

    def _report(self, ctx: int) -> None:
        heard = self._live.get(ctx)
        if heard is None or heard.over:
            return
        now_s = self._desk.now()
        self._desk.tell(Played(ctx=ctx, samples=heard.played(now_s)))
        self._desk.at(now_s + REPORT_S, lambda: self._report(ctx))

    def _hear(self, message: Message) -> None:
        match message:
            case Audio(ctx=ctx, pcm=pcm) if (heard := self._live.get(ctx)) is not None:
                heard.take(len(pcm) // 2, self._desk.now())
                self._known.add(self._voices[heard.listener])
            case Finished(ctx=ctx, compute_s=compute_s):
                self.tally.compute_s += compute_s
                self._leaving.discard(ctx)
                self._end(ctx)
            case Released(ctx=ctx, compute_s=compute_s):
                self.tally.compute_s += compute_s
                self._leaving.discard(ctx)
            case Failed(ctx=ctx, code=code):
                self.tally.errors[code] += 1
                self._leaving.discard(ctx)
                self._end(ctx, AGAIN_S)

    def _end(self, ctx: int, wait_s: float = 0.0) -> None:
        heard = self._live.pop(ctx, None)
        if heard is None:
            return
        heard.over = True
        now_s = self._desk.now()
        self._ask_at(heard.listener, max(now_s, heard.dry_s - COVER_S) + wait_s)
