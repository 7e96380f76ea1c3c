"""The engine's one loop: read everything that came, launch what is due, publish what was made.

All of the inbox is read before a step is launched, so a cancel is in force for whatever is launched
after it. Where nothing can run the loop sleeps until a message or its next sign of life. Knows: the
parts of the loop, what it says about itself. Does not know: pipes, models, policy; what a message,
a segment or a step is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from streaming.capacity import capacity
from streaming.config import EngineSettings
from streaming.costs import Costs
from streaming.engine.flights import Flights
from streaming.engine.inbox import Inbox
from streaming.engine.launches import Launches
from streaming.engine.lines import StageLines
from streaming.engine.live import Ride
from streaming.engine.notes import note
from streaming.engine.roster import Roster
from streaming.engine.segments import Segments
from streaming.engine.trace import Trace
from streaming.engine.track import Track
from streaming.engine.vitals import Vitals
from streaming.engine.voices import Voices
from streaming.messages import Message, ToEngine
from streaming.runners.base import Runner
from streaming.scheduler import Deadlines, Policy


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


EARLY_SHARE, JOIN_SHARE = 1 / 20, 1 / 6
"""Of ``max_ahead_s``: how far ahead of need an idle device works, and what joins a step."""


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
        policy = policy or deadlines(settings.max_ahead_s)
        self._runner = runner
        self._settings = settings
        self._mailbox = mailbox
        self._clock = clock
        self._out: list[Message] = []
        """What is published at the end of the turn."""
        self._costs = Costs({stage.name: stage.prior for stage in runner.stages})
        self._vitals = Vitals(settings.slots)
        self._trace = _trace(settings, runner)
        self._voices = Voices(runner, mailbox.wake)
        self._lines = StageLines(runner, policy, self._costs, clock.now, settings.max_ahead_s)
        roster = Roster(runner, self._voices, self._lines, self._out)
        self._live = roster.live
        segments = Segments(
            runner, self._voices, self._lines, roster, self._vitals, self._out, clock.now
        )
        self._inbox = Inbox(settings, track, self._voices, self._lines, roster, segments)
        flights: Flights[Ride] = Flights(mailbox.wake, settings.hang_timeout_s, clock.now)
        self._launches = Launches(
            runner,
            self._lines,
            roster,
            segments,
            self._costs,
            self._vitals,
            self._trace,
            flights,
            clock.now,
            settings.hang_timeout_s,
        )
        self._used_s = clock.now()
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
        """Read, launch what is due, publish; sleeps where there is nothing to do."""
        messages = self._mailbox.receive(self._rest_s())
        self._inbox.take(messages, self._clock.now())
        self._launches.land()
        self._launches.launch_due()
        self._publish()

    def _rest_s(self) -> float:
        """How long nothing has to be done if nothing comes."""
        if self._out:
            return 0.0
        due_s = min(self._vitals.due_s(len(self._live)), self._launches.due_s())
        return max(0.0, due_s - self._clock.now())

    def _publish(self) -> None:
        now_s = self._clock.now()
        if now_s >= self._vitals.due_s(len(self._live)):
            contexts = (live.context for live in self._live.values())
            self._rest_model(now_s)
            if self._trace is not None:
                self._trace.copied(self._runner.copied())
                self._trace.flush()
            figures = self._runner.figures()
            self._out.append(self._vitals.say(contexts, self._capacity(), now_s, figures))
        self._mailbox.send(self._out.copy())
        self._out.clear()

    def _rest_model(self, now_s: float) -> None:
        """A model that nobody has used for long gives its memory back."""
        if self._live or self._voices.busy or self._launches.busy:
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
            lane: capacity(partial(self._runner.second, lane), self._costs, slots)
            for lane in self._lanes
        }


def deadlines(max_ahead_s: float) -> Deadlines:
    """Our policy, for listeners that may be so far behind."""
    return Deadlines(early_s=EARLY_SHARE * max_ahead_s, join_s=JOIN_SHARE * max_ahead_s)


def _trace(settings: EngineSettings, runner: Runner) -> Trace | None:
    if settings.trace is None:
        return None
    return Trace(Path(settings.trace), [stage.name for stage in runner.stages])
