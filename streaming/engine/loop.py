"""The engine's one loop: read everything that came, run one step, publish what it made.

All of the inbox is read before a step is launched, so a cancel is in force for whatever is launched
after it. Where nothing can run the loop sleeps until a message or its next sign of life. Knows:
contexts and their tracks. Does not know: pipes, models, policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from streaming.config import EngineSettings
from streaming.context import Context, Mark, Pending
from streaming.costs import Costs
from streaming.engine.aside import Aside
from streaming.engine.notes import note_error
from streaming.engine.track import Track
from streaming.engine.vitals import Vitals
from streaming.errors import CosystreamError, SynthesisFailed
from streaming.messages import (
    Cancel,
    End,
    Failed,
    Finished,
    Message,
    Open,
    Park,
    PlaceMark,
    Played,
    Released,
    Skipped,
    Speak,
    StartIn,
    ToEngine,
    Unpark,
)
from streaming.messages import Mark as Marked
from streaming.runners.base import SPEECH, Later, Made, Runner, StepResult, Work
from streaming.scheduler import plan
from streaming.text.speakable import has_words
from streaming.voices.loader import VoiceLoader


class Timekeeper(Protocol):
    """The part of a clock that the loop asks."""

    def now(self) -> float:
        """Seconds; never goes back."""
        ...


class Mailbox(Protocol):
    """The part of a channel that the loop uses."""

    def receive(self, timeout_s: float | None) -> list[ToEngine]:
        """Everything that came; waits for something up to ``timeout_s``."""
        ...

    def send(self, messages: Sequence[Message]) -> None:
        """Publish."""

    def wake(self) -> None:
        """Let ``receive`` return."""


@dataclass
class _Live:
    context: Context
    track: Track
    state: Any = None

    @property
    def ctx(self) -> int:
        return self.context.open.ctx


class Engine:
    """Contexts over one loaded runner."""

    def __init__(
        self, runner: Runner, settings: EngineSettings, mailbox: Mailbox, clock: Timekeeper
    ) -> None:
        self._runner = runner
        self._settings = settings
        self._mailbox = mailbox
        self._clock = clock
        self._costs = Costs()
        self._vitals = Vitals(settings.slots)
        self._voices = VoiceLoader(runner.load_voice, mailbox.wake)
        self._aside: Aside[_Live] = Aside(mailbox.wake, settings.hang_timeout_s)
        self._live: dict[int, _Live] = {}
        self._out: list[Message] = []
        self._idle = True

    def run(self) -> None:
        """For ever; the process ends when its parent is gone."""
        self._out.append(self._runner.ready(self._settings.slots))
        while True:
            self.turn()

    def turn(self) -> None:
        """Read, step once if anything can run, publish; sleeps where there is nothing to do."""
        self._take(self._mailbox.receive(self._rest_s()))
        self._take_aside()
        batch = self._plan()
        self._idle = not batch
        if batch:
            self._step(batch)
        self._publish()

    def _rest_s(self) -> float:
        """How long nothing has to be done if nothing comes."""
        if self._out or not self._idle:
            return 0.0
        return max(0.0, self._vitals.due_s(len(self._live)) - self._clock.now())

    def _plan(self) -> list[Context]:
        busy = self._aside.voices
        return plan(
            (live.context for live in self._live.values() if live.context.open.voice not in busy),
            self._clock.now(),
            self._costs,
            max_batch=self._runner.max_batch,
            max_ahead_s=self._settings.max_ahead_s,
        )

    def _publish(self) -> None:
        now_s = self._clock.now()
        if now_s >= self._vitals.due_s(len(self._live)):
            contexts = (live.context for live in self._live.values())
            self._out.append(self._vitals.say(contexts, now_s))
        self._mailbox.send(self._out)
        self._out = []

    # --- what came -------------------------------------------------------------------------

    def _take(self, messages: Sequence[ToEngine]) -> None:
        now_s = self._clock.now()
        for message in messages:
            if isinstance(message, Open):
                self._open(message, now_s)
            elif (live := self._live.get(message.ctx)) is not None:
                self._tell(live, message, now_s)
        self._take_voices()

    def _open(self, message: Open, now_s: float) -> None:
        context = Context(
            message,
            audible_s=now_s + message.start_in_ms / 1000,
            first_packet_target_s=self._settings.first_packet_target_ms / 1000,
            voice_ready=self._runner.has_voice(message.voice),
        )
        track = Track(message.ctx, self._settings.pauses, words=message.words)
        self._live[message.ctx] = _Live(context, track)
        if not context.voice_ready:
            self._voices.want(message.voice)

    def _tell(self, live: _Live, message: ToEngine, now_s: float) -> None:
        context = live.context
        match message:
            case Speak(segment=segment):
                units = self._runner.step_units(segment)
                context.queue.append(Pending(segment, now_s, units))
                self._settle(live)
            case PlaceMark(mark=name):
                context.queue.append(Mark(name))
                self._settle(live)
            case End():
                context.ended = True
                self._settle(live)
            case Cancel(ctx=ctx):
                del self._live[ctx]
                self._out.append(Released(ctx=ctx, compute_s=context.compute_s))
            case Park():
                context.parked = True
            case Unpark():
                context.parked = False
            case Played(samples=samples):
                context.played(samples, now_s)
            case StartIn(ms=delay_ms):
                context.start_in(delay_ms / 1000, now_s)

    def _take_voices(self) -> None:
        for outcome in self._voices.finished():
            if outcome.error is not None:
                note_error("voice_not_loaded", outcome.error, voice=outcome.voice)
            for live in list(self._live.values()):
                if live.context.open.voice != outcome.voice:
                    continue
                if outcome.error is None:
                    live.context.voice_ready = True
                else:
                    self._fail(live, f"voice {outcome.voice!r} could not be loaded")

    # --- what is made ----------------------------------------------------------------------

    def _step(self, batch: Sequence[Context]) -> None:
        rows = [self._live[context.open.ctx] for context in batch]
        works = [self._work(live) for live in rows]
        units = [head.step_units for live in rows if (head := live.context.head)]
        began_s = self._clock.now()
        results = self._run(works)
        took_s = self._clock.now() - began_s
        if not any(isinstance(result, Later) for result in results):
            self._costs.learn(SPEECH, sum(units), took_s)
            self._vitals.steps += 1
            self._vitals.busy_s += took_s
        for live, result, share in zip(rows, results, units, strict=True):
            if isinstance(result, Later):
                self._aside.add(live, live.context.open.voice, result.result, began_s)
            else:
                live.context.compute_s += took_s * share / sum(units)
                self._deliver(live, result)

    def _take_aside(self) -> None:
        for ended in self._aside.ended(self._clock.now()):
            self._vitals.steps += 1
            self._vitals.busy_s += ended.took_s
            ended.owner.context.compute_s += ended.took_s
            if self._live.get(ended.owner.ctx) is ended.owner:  # it may have been cancelled
                self._deliver(ended.owner, ended.result)

    def _work(self, live: _Live) -> Work:
        head = live.context.head
        assert head is not None, "the plan holds only contexts with work"
        asked = live.context.open
        return Work(
            ctx=asked.ctx,
            segment=head.segment,
            voice=asked.voice,
            speed=asked.speed,
            seed=asked.seed,
            instruct=asked.instruct,
            state=live.state,
        )

    def _run(self, works: Sequence[Work]) -> Sequence[StepResult]:
        """A step; one that fails as a whole is run again row by row, to find whose fault it is."""
        try:
            return self._runner.step(works)
        except Exception as error:  # noqa: BLE001 - a model may raise anything; its context is told
            if len(works) == 1:
                return [error]
        return [result for work in works for result in self._run([work])]

    def _deliver(self, live: _Live, result: Made | Exception) -> None:
        if isinstance(result, Exception):
            self._fail_with(live, result)
            return
        try:
            self._publish_made(live, result)
        except Exception as error:  # noqa: BLE001 - what it made may break what handles it
            self._fail_with(live, error)

    def _publish_made(self, live: _Live, made: Made) -> None:
        context = live.context
        head = context.head
        assert head is not None, "a step was made of it"
        before = live.track.position_samples
        self._out += live.track.add(head.segment, made, final=context.on_last_segment)
        samples = live.track.position_samples - before
        context.produced(samples, self._clock.now())
        self._vitals.audio_samples += samples
        live.state = made.state
        if made.done:
            live.state = None
            context.queue.popleft()
            self._settle(live)

    def _settle(self, live: _Live) -> None:
        """Deal with all that needs no step: marks, segments without a word, the end."""
        context = live.context
        while context.queue:
            item = context.queue[0]
            if isinstance(item, Mark):
                position = live.track.position_samples
                self._out.append(Marked(ctx=live.ctx, mark=item.name, position_samples=position))
            elif not has_words(item.segment.text):
                self._out.append(
                    Skipped(ctx=live.ctx, segment=item.segment, reason="it holds no word")
                )
            else:
                break
            context.queue.popleft()
        if context.complete:
            self._finish(live)

    def _finish(self, live: _Live) -> None:
        self._out += live.track.finish()
        self._out.append(
            Finished(
                ctx=live.ctx,
                samples=live.track.position_samples,
                compute_s=live.context.compute_s,
            )
        )
        del self._live[live.ctx]

    def _fail_with(self, live: _Live, error: Exception) -> None:
        if isinstance(error, CosystreamError):
            self._fail(live, error.message, error)
            return
        note_error("step_failed", error, ctx=live.ctx)
        self._fail(live, "the voice failed on this text; the server's log says how")

    def _fail(self, live: _Live, message: str, error: CosystreamError | None = None) -> None:
        told = error or SynthesisFailed(message)
        self._out.append(
            Failed(ctx=live.ctx, code=told.code, message=message, retryable=told.retryable)
        )
        del self._live[live.ctx]
