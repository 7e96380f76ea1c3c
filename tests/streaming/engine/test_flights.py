"""Steps that go on beside the loop: the loop over a runner that answers later."""

import threading
from collections import deque
from concurrent.futures import Future

import numpy as np
import pytest
from making import segment

from streaming.clock import ManualClock
from streaming.config import EngineSettings
from streaming.engine.flights import Flights, Launch
from streaming.engine.loop import Engine
from streaming.errors import UnsupportedLanguage
from streaming.messages import Audio, Cancel, End, Failed, Finished, Open, Released, Speak
from streaming.runners.base import SPEECH, Later, Made
from streaming.runners.tone import ToneRunner
from streaming.scheduler import UnderWay
from streaming.steps import Stage, Want

SLOW, QUICK = "tone-b", "tone-a"


class Mailbox:
    def __init__(self):
        self.inbox = deque()
        self.sent = []
        self.rests = []
        self.woken = threading.Event()

    def receive(self, timeout_s):
        self.rests.append(timeout_s)
        messages = list(self.inbox)
        self.inbox.clear()
        return messages

    def send(self, messages):
        self.sent += messages

    def wake(self):
        self.woken.set()


class LateRunner(ToneRunner):
    """One voice has a stage of its own, every step of which is answered when the test says so."""

    stages = (Stage(SPEECH), Stage(SLOW))

    def __init__(self, settings):
        super().__init__(settings)
        self.futures = []
        self.released = []

    def wants(self, work, _costs):
        return [Want(SLOW if work.voice == SLOW else SPEECH)]

    def step(self, stage, batch):
        if stage != SLOW:
            return super().step(stage, batch)
        self.futures.append(Future())
        return Later(self.futures[-1])

    def release(self, state):
        self.released.append(state)


class Rig:
    def __init__(self):
        settings = EngineSettings(runner="tone", hang_timeout_s=15.0)
        self.clock, self.mailbox = ManualClock(), Mailbox()
        self.runner = LateRunner(settings)
        self.engine = Engine(self.runner, settings, self.mailbox, self.clock)

    def speak(self, ctx, voice):
        spoken = segment("Hello.")
        self.mailbox.inbox += [
            Open(ctx=ctx, voice=voice),
            Speak(ctx=ctx, segment=spoken),
            End(ctx=ctx),
        ]

    def turns(self, count=1):
        for _ in range(count):
            self.engine.turn()

    def of(self, kind, ctx):
        return [m for m in self.mailbox.sent if isinstance(m, kind) and m.ctx == ctx]


@pytest.fixture
def rig():
    return Rig()


def made():
    return Made(np.full(4_800, 0.1, np.float32), done=True)


def test_others_speak_while_a_step_goes_on(rig):
    rig.speak(1, SLOW)
    rig.speak(2, QUICK)
    rig.turns(12)
    assert rig.of(Finished, 2)
    assert not rig.of(Audio, 1)
    assert len(rig.runner.futures) == 1


def test_its_end_wakes_the_loop_and_its_audio_is_published(rig):
    rig.speak(1, SLOW)
    rig.turns(3)
    assert rig.mailbox.rests[-1] > 0  # nothing else to do: it sleeps
    rig.clock.advance(0.3)
    rig.runner.futures[0].set_result([made()])
    assert rig.mailbox.woken.is_set()
    rig.turns()
    assert rig.of(Audio, 1)
    assert rig.of(Finished, 1)[0].compute_s == pytest.approx(0.3)


def test_a_stage_makes_one_step_at_a_time_in_the_order_of_need(rig):
    for ctx in (1, 2, 3):
        rig.speak(ctx, SLOW)
    rig.turns(4)
    assert len(rig.runner.futures) == 1
    rig.runner.futures[0].set_result([made()])
    rig.turns(2)
    assert len(rig.runner.futures) == 2
    assert rig.of(Finished, 1)
    assert not rig.of(Audio, 2)


def test_a_cancel_is_answered_once_its_step_has_ended_and_what_that_made_is_dropped(rig):
    rig.speak(1, SLOW)
    rig.turns(2)
    rig.mailbox.inbox.append(Cancel(ctx=1))
    rig.turns()
    assert not rig.of(Released, 1)
    assert not rig.runner.released  # the step still reads what the state holds
    rig.runner.futures[0].set_result([made()])
    rig.speak(2, SLOW)
    rig.turns(2)
    assert not rig.of(Audio, 1)
    assert rig.of(Released, 1)
    assert len(rig.runner.released) == 1
    assert len(rig.runner.futures) == 2  # and the stage is free again


@pytest.mark.parametrize("raised", [True, False])
def test_a_step_that_fails_ends_its_context_alone(rig, raised):
    rig.speak(1, SLOW)
    rig.turns(2)
    error = UnsupportedLanguage("no voice for it")
    if raised:
        rig.runner.futures[0].set_exception(error)
    else:
        rig.runner.futures[0].set_result([error])
    rig.speak(2, QUICK)
    rig.turns(12)
    assert rig.of(Failed, 1)[0].code == "unsupported_language"
    assert rig.of(Finished, 2)


def test_a_step_without_end_ends_the_process_so_that_it_is_started_again(rig):
    rig.speak(1, SLOW)
    rig.turns(2)
    rig.clock.advance(16.0)
    with pytest.raises(TimeoutError, match="tone-b"):
        rig.turns()


class Air:
    """Flights over a clock."""

    def __init__(self):
        self.clock = ManualClock()
        self.flights = Flights(lambda: None, 10.0, self.clock.now)

    def launch(self, stage, owner="a"):
        future = Future()
        launch = Launch(stage, (owner,), (1.0,), self.clock.now())
        self.flights.add(launch, Later(future))
        return future

    def pass_by(self, seconds, *ending):
        self.clock.advance(seconds)
        for future in ending:
            future.set_result([made()])

    def landed(self):
        landed = self.flights.landed(self.clock.now())
        return {each.launch.owners[0]: pytest.approx(each.took_s) for each in landed}


def test_what_is_no_error_of_ours_is_told_as_one():
    air, stage = Air(), Stage("flow")
    future = air.launch(stage)
    assert not air.flights.room(stage)
    air.pass_by(0.5)
    future.set_exception(SystemExit(3))
    (landed,) = air.flights.landed(0.5)
    (result,) = landed.results
    assert isinstance(result, RuntimeError)
    assert (landed.launch.owners, landed.took_s) == (("a",), 0.5)
    assert air.flights.room(stage)


def test_of_two_under_way_the_second_is_timed_from_where_it_was_alone():
    air, stage = Air(), Stage("flow", in_flight=2)
    first = air.launch(stage, "first")
    air.pass_by(0.1)
    second = air.launch(stage, "second")
    air.pass_by(0.4, first)
    air.pass_by(0.25, second)
    assert air.landed() == {"first": 0.5, "second": 0.25}


def test_it_is_timed_to_its_end_however_late_that_is_looked_at():
    air = Air()
    future = air.launch(Stage("flow"))
    air.pass_by(0.2, future)
    air.pass_by(3.0)
    assert air.landed() == {"a": 0.2}


def test_time_counts_once_and_for_what_goes_first_on_the_device():
    air, urgent = Air(), Stage("llm", urgent=True)
    long = air.launch(Stage("flow"), "flow")
    air.pass_by(0.1)
    short = air.launch(urgent, "llm")
    air.pass_by(0.02, short)
    assert air.landed() == {"llm": 0.02}
    air.pass_by(0.3, long)
    assert air.landed() == {"flow": 0.4}


def test_it_knows_what_a_step_would_be_launched_beside():
    air = Air()
    flow, llm, vocoder = Stage("flow"), Stage("llm", in_flight=2), Stage("vocoder")
    assert air.flights.beside(llm) == UnderWay(float("inf"), 0)
    for stage, begin_by_s in ((flow, 3.0), (llm, 2.0), (llm, 4.0)):
        air.flights.add(Launch(stage, ("a",), (1.0,), 0.0, begin_by_s), Later(Future()))
    assert air.flights.beside(vocoder) == UnderWay(2.0, 0)
    assert air.flights.beside(flow) == UnderWay(2.0, 1)
    assert air.flights.beside(llm) == UnderWay(3.0, 2)


def test_what_raises_when_it_lands_is_told_to_its_rows():
    flights = Flights(lambda: None, 10.0, lambda: 0.0)
    future = Future()
    flights.add(Launch(Stage("flow"), ("a", "b"), (1.0, 1.0), 0.0), Later(future, lambda _: 1 / 0))
    future.set_result(None)
    (landed,) = flights.landed(0.5)
    assert [type(result) for result in landed.results] == [ZeroDivisionError] * 2
