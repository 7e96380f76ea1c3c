"""Steps under way: which there are, how long each took, what it came to."""

from concurrent.futures import Future

import numpy as np
import pytest

from streaming.clock import ManualClock
from streaming.engine.flights import Flights, Launch
from streaming.runners.base import Later, Made
from streaming.scheduler import UnderWay
from streaming.steps import Stage


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


def made():
    return Made(np.full(4_800, 0.1, np.float32), done=True)


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
