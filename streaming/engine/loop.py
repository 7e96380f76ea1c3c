"""The engine's one loop: read everything that came, run one step, publish what it made.

All of the inbox is read before a step is launched, so a cancel is in force for whatever is launched
after it. Where nothing can run the loop sleeps until a message or its next sign of life. Knows:
contexts and their tracks. Does not know: pipes, models, policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, Protocol

from streaming.capacity import Steady, capacity
from streaming.config import EngineSettings
from streaming.context import Context, Mark, Pending
from streaming.costs import Costs
from streaming.engine.flights import Flights, Landed, Launch
from streaming.engine.notes import note, note_error
from streaming.engine.trace import Trace
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
from streaming.scheduler import NEVER, Deadlines, Line, Policy, Row, expect, rank
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


DOWNSTREAM_FIRST_S = 1e-6
"""Enough for a context's stage that is nearer to being heard to go first."""

EARLY_SHARE, JOIN_SHARE = 1 / 20, 1 / 6
"""Of ``max_ahead_s``: how far ahead of need an idle device works, and what joins a step."""


@dataclass(eq=False)
class _Live:
    ctx: int
    context: Context
    track: Track
    work: Work | None = None
    """The segment at the head, once it has its state."""
    under_way: Counter[str] = field(default_factory=Counter)
    """How many steps of it are, by stage."""
    gone: bool = False
    """Cancelled, failed or finished; what is under way for it is not wanted any more."""
    cancelled: bool = False
    """Its owner is told when its slot is free."""
    failed: Failed | None = None
    """What its owner is told then, where it failed."""


class _Ride(NamedTuple):
    """A context's part in a step."""

    live: _Live
    work: Work


class Engine:
    """Contexts over one loaded runner."""

    def __init__(
        self,
        runner: Runner,
        settings: EngineSettings,
        mailbox: Mailbox,
        clock: Timekeeper,
        policy: Policy | None = None,
        track: Callable[..., Track] = Track,
    ) -> None:
        """``policy``: another than ours; ``track``: another keeper of audio, to simulate one."""
        self._runner = runner
        self._settings = settings
        self._mailbox = mailbox
        self._clock = clock
        self._track = track
        self._policy = policy or deadlines(settings.max_ahead_s)
        self._costs = Costs({stage.name: stage.prior for stage in runner.stages})
        self._vitals = Vitals(settings.slots)
        self._voices = VoiceLoader(runner.load_voice, mailbox.wake)
        self._removed: set[str] = set()
        """Voices that are still spoken with, or being loaded, though they were removed."""
        self._flights: Flights[_Ride] = Flights(mailbox.wake, settings.hang_timeout_s, clock.now)
        self._lines = {stage.name: Line(stage, self._policy) for stage in runner.stages}
        self._downstream_first = tuple(reversed(self._lines.items()))
        self._live: dict[int, _Live] = {}
        self._leaving: set[_Live] = set()
        """What is gone and has steps under way."""
        self._short: list[_Live] = []
        """Whose step found no memory."""
        self._out: list[Message] = []
        self._used_s = clock.now()
        self._trace = _trace(settings, runner)
        self._lanes: set[str] = set()
        self._steady = Steady()

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
        """Read, launch what is due, publish; sleeps where there is nothing to do."""
        self._take(self._mailbox.receive(self._rest_s()))
        self._land()
        self._launch_due()
        self._publish()

    def _rest_s(self) -> float:
        """How long nothing has to be done if nothing comes."""
        if self._out:
            return 0.0
        due_s = self._vitals.due_s(len(self._live))
        for line in self._lines.values():
            due_s = min(due_s, self._due_s(line))
        return max(0.0, due_s - self._clock.now())

    def _launch_due(self) -> None:
        """Launch the steps that are due, the most pressing first.

        After one that was computed here and now the inbox is read before the next.
        """
        now_s = self._clock.now()
        due = [
            (rows[0], line, rows)
            for line in self._lines.values()
            if self._due_s(line) <= now_s and (rows := line.choose(now_s, self._costs))
        ]
        due.sort(key=itemgetter(0))
        for index, (_, line, rows) in enumerate(due):
            if index and self._due_s(line) > now_s:
                continue  # it can wait for what was just launched
            if not self._launch(line, rows):
                break

    def _due_s(self, line: Line) -> float:
        """When to launch the stage's next step, if nothing happens before."""
        beside = self._flights.beside(line.stage)
        return line.due_s(beside) if beside.own < line.stage.in_flight else NEVER

    def _publish(self) -> None:
        now_s = self._clock.now()
        if now_s >= self._vitals.due_s(len(self._live)):
            contexts = (live.context for live in self._live.values())
            self._rest_model(now_s)
            if self._trace is not None:
                self._trace.flush()
            figures = self._runner.figures()
            self._out.append(self._vitals.say(contexts, self._capacity(), now_s, figures))
        self._mailbox.send(self._out)
        self._out = []

    def _rest_model(self, now_s: float) -> None:
        """A model that nobody has used for long gives its memory back."""
        if self._live or self._voices.busy or self._flights.busy:
            self._used_s = now_s
        elif 0 < self._settings.unload_after_s <= now_s - self._used_s:
            self._used_s = float("inf")  # once, until it is used again
            self._runner.unload()
            note("model_unloaded", after_s=self._settings.unload_after_s)

    def _capacity(self) -> dict[str, int]:
        slots = self._settings.slots
        if self._settings.capacity:
            return dict.fromkeys(self._lanes, self._settings.capacity)
        return {
            lane: self._steady.take(
                lane, capacity(partial(self._runner.second, lane), self._costs, slots)
            )
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
        track = self._track(message.ctx, self._settings.pauses, words=message.words)
        self._live[message.ctx] = _Live(message.ctx, context, track)
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
                live.cancelled = True
                self._drop(live)
            case Park():
                context.parked = True
                self._rank(live)
            case Unpark():
                context.parked = False
                self._rank(live)
            case Played(samples=samples):
                context.played(samples, now_s)
                self._rank(live)
            case StartIn(ms=delay_ms):
                context.start_in(delay_ms / 1000, now_s)
                self._rank(live)

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

    def _launch(self, line: Line, rows: Sequence[Row]) -> bool:
        """Whether the step goes on elsewhere."""
        now_s = self._clock.now()
        stage = line.stage
        rides: list[_Ride] = []
        for row in rows:
            live = self._live[row.ctx]
            assert live.work is not None, "only what has begun is launched"
            live.work.slack_s = row.finish_by_s - now_s
            live.under_way[stage.name] += 1
            line.drop(row.ctx)
            rides.append(_Ride(live, live.work))
        units = tuple(row.want.units for row in rows)
        launch = Launch(stage, tuple(rides), units, now_s, rows[0].begin_by_s)
        results = self._run(stage, [ride.work for ride in rides])
        if not isinstance(results, Later):
            ended_s = self._clock.now()
            self._arrive(Landed(launch, results, ended_s - now_s, ended_s))
            return False
        self._flights.add(launch, results)
        if stage.ahead > 1:
            for ride in rides:
                self._ask(ride.live)
        return True

    def _land(self) -> None:
        for landed in self._flights.landed(self._clock.now()):
            self._arrive(landed)

    def _arrive(self, landed: Landed[_Ride]) -> None:
        launch = landed.launch
        total = sum(launch.units)
        if self._trace is not None:
            contexts = [ride.live.ctx for ride in launch.owners]
            span_s = launch.began_s, landed.ended_s
            self._trace.step(launch.stage.name, *span_s, contexts, total)
        self._costs.learn(launch.stage.name, total, landed.took_s)
        self._vitals.steps += 1
        self._vitals.busy_s += landed.took_s
        for ride, result, units in zip(launch.owners, landed.results, launch.units, strict=True):
            live = ride.live
            live.under_way[launch.stage.name] -= 1
            live.context.compute_s += landed.took_s * units / total
            if live.gone:
                self._free(live)
            elif live.work is ride.work:  # else its segment was complete without this step
                self._deliver(live, result)

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
            if len(result.samples) or result.done:
                self._publish_made(live, result)
            else:
                self._go_on(live, result)
        except Exception as error:  # noqa: BLE001 - what it made may break what handles it
            self._fail_with(live, error)

    def _make_room(self, live: _Live, full: DeviceFull) -> None:
        """The newest context ends, so that ``live``, whose step found no memory, can try again.

        One that has ended is enough, though what is under way for it still holds the memory.
        """
        if not self._leaving:
            begun = (each for each in self._live.values() if each.work is not None)
            self._fail_with(max(begun, key=lambda each: each.ctx), full)
        if not live.gone:
            self._short.append(live)
            self._try_again()

    def _try_again(self) -> None:
        """Whoever found no memory, once all is free that soon will be."""
        if self._leaving:
            return
        short, self._short = self._short, []
        for live in short:
            if live.work is not None and not live.gone:
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
        self._go_on(live, made)

    def _go_on(self, live: _Live, made: Made) -> None:
        """What is next for a context after a step."""
        if not made.done:
            assert live.work is not None, "a step was made of it"
            live.work.state = made.state
            self._ask(live)
            return
        self._end_segment(live)
        live.context.queue.popleft()
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
        elif context.head is not None and context.voice_ready and live.work is None:
            self._begin(live)

    def _begin(self, live: _Live) -> None:
        """Give the segment at the head its state."""
        head, asked = live.context.head, live.context.open
        assert head is not None, "only a segment is begun"
        if not self._runner.has_voice(asked.voice):  # it had to make room since the last segment
            live.context.voice_ready = False
            self._voices.want(asked.voice)
            return
        work = Work(
            ctx=asked.ctx,
            segment=head.segment,
            voice=asked.voice,
            speed=asked.speed,
            seed=asked.seed,
            instruct=asked.instruct,
            language=asked.language,
        )
        try:
            work.state = self._runner.begin(work)
        except Exception as error:  # noqa: BLE001 - a model may raise anything; its context is told
            self._fail_with(live, error)
            return
        live.work = work
        self._ask(live)
        expect(live.context, self._clock.now(), self._costs)
        self._rank(live)

    def _ask(self, live: _Live) -> None:
        """What could be launched for the segment at the head."""
        work = live.work
        assert work is not None, "only what has begun is asked"
        now_s = self._clock.now()
        deadline_s = live.context.deadline_s(now_s)
        work.slack_s = deadline_s - now_s
        wants = self._runner.wants(work, self._costs)
        live.context.wants = {want.stage: want for want in wants}
        self._place(live, deadline_s)

    def _rank(self, live: _Live) -> None:
        """Its deadline, or whether it may run at all, is another now."""
        wanted = live.context.head is not None and live.context.wants
        self._place(live, live.context.deadline_s(self._clock.now()) if wanted else 0.0)

    def _place(self, live: _Live, deadline_s: float) -> None:
        """Put its steps in the lines of their stages, or take them out."""
        context = live.context
        wants = context.wants
        parked = not context.runnable(self._settings.max_ahead_s)
        if live.work is not None and (parked or live.work.parked):
            _tell_parked(live.work, context, parked, self._clock.now())
        runnable = bool(wants) and not parked
        # What is nearer to being heard goes first: a late context must not begin its next hop
        # before it has finished this one. Only where stages share a thread does that decide.
        not_before_s = -NEVER
        if not runnable:
            for line in self._lines.values():
                line.drop(live.ctx)
            return
        for name, line in self._downstream_first:
            want = wants.get(name)
            if want is not None and live.under_way.get(name, 0) < line.stage.ahead:
                row = rank(context, want, deadline_s, self._costs)
                if row.begin_by_s < not_before_s:
                    row = row._replace(begin_by_s=not_before_s)
                line.put(row)
                not_before_s = row.begin_by_s + DOWNSTREAM_FIRST_S
            else:
                line.drop(live.ctx)

    def _end_segment(self, live: _Live) -> None:
        live.context.wants = {}
        self._rank(live)
        if live.work is not None:
            self._runner.release(live.work.state)
            live.work = None

    def _drop(self, live: _Live) -> None:
        """It is over; what its state holds is free once nothing of it is under way."""
        del self._live[live.ctx]
        self._purge(live.context.open.voice)
        live.gone = True
        live.context.wants = {}
        self._rank(live)
        self._free(live)

    def _free(self, live: _Live) -> None:
        if live.under_way.total():
            self._leaving.add(live)
            return
        self._leaving.discard(live)
        self._end_segment(live)
        self._try_again()
        if live.cancelled:
            self._out.append(Released(ctx=live.ctx, compute_s=live.context.compute_s))
        elif live.failed is not None:
            self._out.append(live.failed)

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
        live.failed = Failed(
            ctx=live.ctx, code=told.code, message=message, retryable=told.retryable
        )
        self._drop(live)


def deadlines(max_ahead_s: float) -> Deadlines:
    """Our policy, for listeners that may be so far behind."""
    return Deadlines(early_s=EARLY_SHARE * max_ahead_s, join_s=JOIN_SHARE * max_ahead_s)


def _tell_parked(work: Work, context: Context, parked: bool, now_s: float) -> None:
    """Who must wait has as long as its listener has something to hear."""
    work.parked = parked
    if parked and context.head is not None:
        away = context.parked
        work.slack_s = float("inf") if away else context.deadline_s(now_s) - now_s


def _trace(settings: EngineSettings, runner: Runner) -> Trace | None:
    if settings.trace is None:
        return None
    return Trace(Path(settings.trace), [stage.name for stage in runner.stages])
