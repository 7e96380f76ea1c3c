"""Speaking with the real runner, turned by the engine's own loop in this process.

So what is measured is what a server would do, but for text, pipes and Opus. Knows: messages of the
engine, when they came. Does not know: what was said well.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from streaming.clock import SystemClock
from streaming.config import EngineSettings
from streaming.cosyvoice.verify.sentences import Sentence
from streaming.engine.loop import Engine
from streaming.messages import (
    Audio,
    Cancel,
    End,
    Failed,
    Finished,
    Message,
    Open,
    Ready,
    Released,
    Speak,
    ToEngine,
)
from streaming.runners.base import Runner
from streaming.samples import SAMPLE_RATE

PATIENCE_S = 900.0
"""A sentence that takes longer to make will not come."""

_SAMPLE_BYTES = 2


class NotSpoken(Exception):
    """The engine said that it cannot, or said nothing for too long."""


@dataclass(frozen=True)
class Spoken:
    """A sentence's audio, and what it cost."""

    pcm: bytes
    compute_s: float
    gap_s: float
    """The longest that somebody who plays from the first packet on would have waited."""
    cut_off: bool
    """Whether it was stopped, because it would not end."""

    @property
    def audio_s(self) -> float:
        """Its length."""
        return len(self.pcm) / _SAMPLE_BYTES / SAMPLE_RATE

    @property
    def rtf(self) -> float:
        """Seconds of computing for a second of audio."""
        return self.compute_s / self.audio_s if self.pcm else float("inf")


class Speaking:
    """A loaded runner that says one sentence after another."""

    def __init__(self, runner: Runner, settings: EngineSettings) -> None:
        self._box = _Box()
        self._clock = SystemClock()
        self._engine = Engine(runner, settings, self._box, self._clock)
        self._engine.begin()
        self._engine.turn()
        self._numbers = count(1)

    @property
    def ready(self) -> Ready:
        """What the runner says of itself."""
        return next(said for _, said in self._box.said if isinstance(said, Ready))

    def say(self, sentence: Sentence) -> Spoken:
        """All of it, or as much as a sentence of that length can have.

        Raises:
            NotSpoken: it did not come about.
        """
        ctx, begun_at = self._begin(sentence)
        longest_bytes = int(sentence.longest_s * SAMPLE_RATE) * _SAMPLE_BYTES

        def over() -> bool:
            made = sum(len(chunk.pcm) for _, chunk in self._audio(begun_at))
            return made >= longest_bytes or self._end(begun_at) is not None

        self._turn_until(over)
        cut_off = self._end(begun_at) is None
        if cut_off:
            self._cancel(ctx, begun_at)
        end = self._end(begun_at)
        assert end is not None, "it was waited for"
        chunks = self._audio(begun_at)
        pcm = b"".join(chunk.pcm for _, chunk in chunks)
        return Spoken(pcm, end.compute_s, _gap_s(chunks), cut_off)

    def first_packet_s(self, sentence: Sentence) -> float:
        """From the text to the first 80 ms of sound, with everything of the voice at hand.

        Raises:
            NotSpoken: it did not come about.
        """
        began_s = self._clock.now()
        ctx, begun_at = self._begin(sentence)
        self._turn_until(lambda: bool(self._audio(begun_at)) or bool(self._end(begun_at)))
        arrived = self._audio(begun_at)
        if self._end(begun_at) is None:
            self._cancel(ctx, begun_at)
        if not arrived:
            raise NotSpoken("no sound came of it")
        return arrived[0][0] - began_s

    def _begin(self, sentence: Sentence) -> tuple[int, int]:
        """Ask for it: the context's number, and where in all that is said its own begins."""
        ctx, begun_at = next(self._numbers), len(self._box.said)
        self._box.put(
            Open(ctx=ctx, voice=sentence.voice, seed=1, instruct=sentence.instruct),
            Speak(ctx=ctx, segment=sentence.segment),
            End(ctx=ctx),
        )
        return ctx, begun_at

    def _cancel(self, ctx: int, begun_at: int) -> None:
        self._box.put(Cancel(ctx=ctx))
        self._turn_until(lambda: self._end(begun_at) is not None)

    def _audio(self, begun_at: int) -> list[tuple[float, Audio]]:
        said = self._box.said[begun_at:]
        return [(at_s, each) for at_s, each in said if isinstance(each, Audio)]

    def _end(self, begun_at: int) -> Finished | Released | None:
        for _, each in self._box.said[begun_at:]:
            if isinstance(each, Failed):
                raise NotSpoken(each.message)
            if isinstance(each, Finished | Released):
                return each
        return None

    def _turn_until(self, over: Callable[[], bool]) -> None:
        until_s = self._clock.now() + PATIENCE_S
        while not over():
            if self._clock.now() > until_s:
                raise NotSpoken(f"it was not done after {PATIENCE_S / 60:.0f} minutes")
            try:
                self._engine.turn()
            except TimeoutError as error:
                raise NotSpoken(str(error)) from error


class _Box:
    """The engine's mailbox: what is put in, and what was said with when."""

    def __init__(self) -> None:
        self.said: list[tuple[float, Message]] = []
        self._inbox: deque[ToEngine] = deque()
        self._bell = threading.Event()
        self._clock = SystemClock()

    def put(self, *messages: ToEngine) -> None:
        self._inbox += messages

    def receive(self, timeout_s: float | None) -> list[ToEngine]:
        """Waits for a message or a bell."""
        if not self._inbox:
            self._bell.wait(timeout_s)
        self._bell.clear()
        messages = list(self._inbox)
        self._inbox.clear()
        return messages

    def send(self, messages: Sequence[Message]) -> None:
        """Keep them, with the time."""
        now_s = self._clock.now()
        self.said += [(now_s, message) for message in messages]

    def wake(self) -> None:
        """Something has come to its end in another thread."""
        self._bell.set()


def _gap_s(chunks: Sequence[tuple[float, Audio]]) -> float:
    if not chunks:
        return 0.0
    began_s = chunks[0][0]
    late_s = [at_s - began_s - chunk.position_samples / SAMPLE_RATE for at_s, chunk in chunks]
    return max(0.0, *late_s)
