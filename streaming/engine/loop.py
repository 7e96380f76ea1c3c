"""The engine's one loop: read everything that came, run one step, publish what it made.

All of the inbox is read before a step is launched, so a cancel is in force for whatever is launched
after it. Where nothing can run the loop sleeps until a message or its next sign of life. Knows:
contexts and their tracks. Does not know: pipes, models, policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from streaming.capacity import capacity
from streaming.config import EngineSettings
from streaming.context import Context, Mark, Pending
from streaming.costs import Costs
from streaming.engine.flights import Flights, Landed, Launch
from streaming.engine.notes import note_error
from streaming.engine.track import Track
from streaming.engine.vitals import Vitals
from streaming.errors import CosystreamError, DeviceFull, SynthesisFailed, UnknownVoice
from streaming.messages import (
    Cancel,
    End,
    Failed,
    Finished,
    ForgetVoice,
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
from streaming.runners.base import Later, Made, Runner, StepResult, Work
from streaming.scheduler import Batch, Policy, plan
from streaming.steps import Stage
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


@dataclass(eq=False)
class _Live:
    context: Context
    track: Track
    begun: bool = False
    """Whether the segment at the head has its state."""
    state: Any = None
    steps_under_way: int = 0
    gone: bool = False
    """Cancelled, failed or finished; what is under way for it is not wanted any more."""

    @property
    def ctx(self) -> int:
        return self.context.open.ctx


class Engine:
    """Contexts over one loaded runner."""

    def __init__(
        self,
        runner: Runner,
        settings: EngineSettings,
        mailbox: Mailbox,
        clock: Timekeeper,
        policy: Policy = plan,
    ) -> None:
        self._runner = runner
        self._settings = settings
        self._mailbox = mailbox
        self._clock = clock
        self._plan_batch = policy
        self._costs = Costs({stage.name: stage.prior for stage in runner.stages})
        self._vitals = Vitals(settings.slots)
        self._voices = VoiceLoader(runner.load_voice, mailbox.wake)
        self._removed: set[str] = set()
        """Voices that were removed while they were being loaded."""
        self._flights: Flights[_Live] = Flights(mailbox.wake, settings.hang_timeout_s)
        self._live: dict[int, _Live] = {}
        self._out: list[Message] = []
        self._idle = True
        self._lanes: set[str] = set()

    def run(self) -> None:
        """For ever; the process ends when its parent is gone."""
        self.begin()
        while True:
            self.turn()

    def begin(self) -> None:
        """Say what there is."""
        ready = self._runner.ready(self._settings.slots)
        self._lanes = {voice.lane for voice in ready.voices}
        self._out.append(ready)

    def turn(self) -> None:
        """Read, launch one step if any can be, publish; sleeps where there is nothing to do."""
        self._take(self._mailbox.receive(self._rest_s()))
        self._land()
        batch = self._plan()
        self._idle = batch is None
        if batch is not None:
            self._launch(batch)
        self._publish()

    def _rest_s(self) -> float:
        """How long nothing has to be done if nothing comes."""
        if self._out or not self._idle:
            return 0.0
        return max(0.0, self._vitals.due_s(len(self._live)) - self._clock.now())

    def _plan(self) -> Batch | None:
        """The most pressing of the steps that there is room for."""
        now_s = self._clock.now()
        batches = [self._plan_stage(stage, now_s) for stage in self._runner.stages]
        known = [batch for batch in batches if batch is not None]
        return min(known, key=lambda batch: batch.begin_by_s, default=None)

    def _plan_stage(self, stage: Stage, now_s: float) -> Batch | None:
        if not self._flights.room(stage):
            return None
        busy = {live.ctx for live in self._flights.owners(stage)}
        contexts = (live.context for ctx, live in self._live.items() if ctx not in busy)
        return self._plan_batch(
            stage, contexts, now_s, self._costs, max_ahead_s=self._settings.max_ahead_s
        )

    def _publish(self) -> None:
        now_s = self._clock.now()
        if now_s >= self._vitals.due_s(len(self._live)):
            contexts = (live.context for live in self._live.values())
            self._out.append(self._vitals.say(contexts, self._capacity(), now_s))
        self._mailbox.send(self._out)
        self._out = []

    def _capacity(self) -> dict[str, int]:
        slots = self._settings.slots
        if self._settings.capacity:
            return dict.fromkeys(self._lanes, self._settings.capacity)
        return {
            lane: capacity(partial(self._runner.second, lane), self._costs, slots)
            for lane in self._lanes
        }

    # --- what came -------------------------------------------------------------------------

    def _take(self, messages: Sequence[ToEngine]) -> None:
        now_s = self._clock.now()
        for message in messages:
            if isinstance(message, Open):
                self._open(message, now_s)
            elif isinstance(message, ForgetVoice):
                self._forget_voice(message.voice)
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
                context.queue.append(Pending(segment, now_s))
                self._settle(live)
            case PlaceMark(mark=name):
                context.queue.append(Mark(name))
                self._settle(live)
            case End():
                context.ended = True
                self._settle(live)
            case Cancel():
                self._drop(live)
                self._out.append(Released(ctx=live.ctx, compute_s=context.compute_s))
            case Park():
                context.parked = True
            case Unpark():
                context.parked = False
            case Played(samples=samples):
                context.played(samples, now_s)
            case StartIn(ms=delay_ms):
                context.start_in(delay_ms / 1000, now_s)

    def _forget_voice(self, voice: str) -> None:
        """Who speaks with it may finish; then nothing of it is kept."""
        self._removed.add(voice)
        self._purge(voice)

    def _purge(self, voice: str) -> None:
        if voice not in self._removed or self._voices.is_under_way(voice):
            return
        if all(live.context.open.voice != voice for live in self._live.values()):
            self._removed.discard(voice)
            self._runner.forget_voice(voice)

    def _take_voices(self) -> None:
        for outcome in self._voices.finished():
            error = outcome.error
            if outcome.voice in self._removed:
                error = UnknownVoice(f"voice {outcome.voice!r} was removed")
            elif error is not None:
                note_error("voice_not_loaded", error, voice=outcome.voice)
            for live in list(self._live.values()):
                if live.context.open.voice == outcome.voice:
                    self._take_voice(live, error)
            self._purge(outcome.voice)

    def _take_voice(self, live: _Live, error: Exception | None) -> None:
        if error is None:
            live.context.voice_ready = True
            self._settle(live)
        elif isinstance(error, CosystreamError):
            self._fail(live, error.message, error)
        else:
            self._fail(live, f"voice {live.context.open.voice!r} could not be loaded")

    # --- what is made ----------------------------------------------------------------------

    def _launch(self, batch: Batch) -> None:
        now_s = self._clock.now()
        rows = [self._live[row.context.open.ctx] for row in batch.rows]
        works = [
            self._work(live, slack_s=row.finish_by_s - now_s)
            for live, row in zip(rows, batch.rows, strict=True)
        ]
        units = tuple(row.want.units for row in batch.rows)
        launch = Launch(batch.stage, tuple(rows), units, now_s)
        results = self._run(batch.stage, works)
        for live in rows:
            live.steps_under_way += 1
        if isinstance(results, Later):
            self._flights.add(launch, results)
            for live in rows:
                self._ask(live)
        else:
            self._arrive(Landed(launch, results, self._clock.now() - now_s))

    def _land(self) -> None:
        for landed in self._flights.landed(self._clock.now()):
            self._arrive(landed)

    def _arrive(self, landed: Landed[_Live]) -> None:
        launch = landed.launch
        total = sum(launch.units)
        self._costs.learn(launch.stage.name, total, landed.took_s)
        self._vitals.steps += 1
        self._vitals.busy_s += landed.took_s
        for live, result, units in zip(launch.owners, landed.results, launch.units, strict=True):
            live.steps_under_way -= 1
            live.context.compute_s += landed.took_s * units / total
            if live.gone:
                self._free(live)
            else:
                self._deliver(live, result)

    def _work(self, live: _Live, slack_s: float = 0.0) -> Work:
        head = live.context.head
        assert head is not None, "only a context with a segment has work"
        asked = live.context.open
        return Work(
            ctx=asked.ctx,
            segment=head.segment,
            voice=asked.voice,
            speed=asked.speed,
            seed=asked.seed,
            instruct=asked.instruct,
            language=asked.language,
            state=live.state,
            slack_s=slack_s,
        )

    def _run(self, stage: Stage, works: Sequence[Work]) -> Sequence[StepResult] | Later:
        """A step; one that fails as a whole is run again row by row, to find whose fault it is."""
        try:
            return self._runner.step(stage.name, works)
        except Exception as error:  # noqa: BLE001 - a model may raise anything; its context is told
            if len(works) == 1:
                return [error]
        return [self._run_alone(stage, work) for work in works]

    def _run_alone(self, stage: Stage, work: Work) -> StepResult:
        results = self._run(stage, [work])
        if isinstance(results, Later):  # rare: what failed together is waited for here
            results = results.land(results.made.result(self._settings.hang_timeout_s))
        return results[0]

    def _deliver(self, live: _Live, result: Made | Exception) -> None:
        if isinstance(result, DeviceFull):
            self._make_room(live, result)
            return
        if isinstance(result, Exception):
            self._fail_with(live, result)
            return
        try:
            self._publish_made(live, result)
        except Exception as error:  # noqa: BLE001 - what it made may break what handles it
            self._fail_with(live, error)

    def _make_room(self, live: _Live, full: DeviceFull) -> None:
        """The newest context ends, so that ``live``, whose step found no memory, can try again."""
        begun = (each for each in self._live.values() if each.begun)
        newest = max(begun, key=lambda each: each.ctx)
        self._fail_with(newest, full)
        if newest is not live:
            self._ask(live)

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
        if not made.done:
            self._ask(live)
            return
        self._end_segment(live)
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
        elif context.head is not None and context.voice_ready and not live.begun:
            self._begin(live)

    def _begin(self, live: _Live) -> None:
        """Give the segment at the head its state."""
        try:
            live.state = self._runner.begin(self._work(live))
        except Exception as error:  # noqa: BLE001 - a model may raise anything; its context is told
            self._fail_with(live, error)
            return
        live.begun = True
        self._ask(live)

    def _ask(self, live: _Live) -> None:
        """What could be launched for the segment at the head."""
        now_s = self._clock.now()
        slack_s = live.context.deadline_s(now_s) - now_s
        wants = self._runner.wants(self._work(live, slack_s), self._costs)
        live.context.wants = {want.stage: want for want in wants}

    def _end_segment(self, live: _Live) -> None:
        live.context.wants = {}
        if live.begun:
            live.begun = False
            self._runner.release(live.state)
        live.state = None

    def _drop(self, live: _Live) -> None:
        """It is over; what its state holds is free once nothing of it is under way."""
        del self._live[live.ctx]
        self._purge(live.context.open.voice)
        live.gone = True
        self._free(live)

    def _free(self, live: _Live) -> None:
        if not live.steps_under_way:
            self._end_segment(live)

    def _finish(self, live: _Live) -> None:
        self._out += live.track.finish()
        self._out.append(
            Finished(
                ctx=live.ctx,
                samples=live.track.position_samples,
                compute_s=live.context.compute_s,
            )
        )
        self._drop(live)

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
        self._drop(live)
