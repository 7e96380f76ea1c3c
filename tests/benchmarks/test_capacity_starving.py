"""Whatever the arrivals: who fits is served."""

from dataclasses import dataclass

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from simulated import Simulated

from benchmarks.capacity.device import ESTIMATES
from benchmarks.capacity.simulate import MAX_BATCH, capacity_of
from streaming.admission import Admission
from streaming.errors import Overloaded

DEVICE = "4090"
CAPACITY = capacity_of(ESTIMATES[DEVICE])
CROWDED = 6
"""Contexts, where a step takes no more than 2 of them."""

WITHIN_S = 1.5
"""In which even the last of a burst of strangers with every advantage is heard."""

LATE_S = 0.4
"""At most, for who came with a crowd that filled the house in an instant: they have little laid by.
"""

FAST = settings(max_examples=8, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
"""A failure is told as it was found: to make it small takes minutes."""


@dataclass(frozen=True)
class Comer:
    """One who comes ``gap_s`` after the last."""

    gap_s: float
    chars: list[int]
    priority: int
    write_s: float
    report_s: float
    collects: bool
    stop_s: float | None
    away_s: tuple[float, float] | None
    """From when on it is parked, and for how long."""
    still_s: tuple[float, float] | None
    """The same of playing nothing."""

    @property
    def disturbed(self):
        """Whether the times at which it hears are its own doing."""
        return self.collects or self.stop_s or self.away_s or self.still_s or self.write_s


def moments(first_s, last_s):
    return st.tuples(st.floats(first_s, last_s), st.floats(0.05, 4.0))


COMERS = st.builds(
    Comer,
    gap_s=st.sampled_from([0.0, 0.0, 0.0, 0.002, 0.05, 0.4]),
    chars=st.lists(st.integers(1, 150), min_size=1, max_size=3),
    priority=st.integers(-10, 10),
    write_s=st.sampled_from([0.0, 0.0, 0.5, 3.0]),
    report_s=st.sampled_from([0.2, 1.0, 3.0]),
    collects=st.sampled_from([False, False, False, True]),
    stop_s=st.none() | st.floats(0.0, 3.0),
    away_s=st.none() | moments(0.0, 3.0),
    still_s=st.none() | moments(0.1, 3.0),
)


class House:
    """A device with a door; all who come are told who they are."""

    def __init__(self, capacity, max_batch):
        self.sim = Simulated(DEVICE, max_batch=max_batch)
        self.door = Admission(4096)
        self.door.capacity = {"": capacity}
        self.sim.on_over = lambda ctx: self.door.give_back(ctx, self.sim.world.now())
        self.served = {}

    def receive(self, comers):
        at_s = 1.0
        for ctx, comer in enumerate(comers, start=1):
            at_s += comer.gap_s
            self.sim.world.at(at_s, lambda ctx=ctx, comer=comer: self._arrive(ctx, comer))
        self.sim.run(at_s + 60.0)

    def first_s(self, ctx):
        """From when it could have been heard."""
        first_s, asked_s = self.sim.first_s[ctx], self.sim.asked_s[ctx]
        if (away_s := self.served[ctx].away_s) is not None and first_s > asked_s + away_s[0]:
            return max(0.0, first_s - asked_s - sum(away_s))
        return first_s - asked_s

    def _arrive(self, ctx, comer):
        now_s = self.sim.world.now()
        try:
            self.door.offer(ctx, str(ctx), now_s)
        except Overloaded:
            return
        self.served[ctx] = comer
        self.sim.say(
            ctx,
            *comer.chars,
            at_s=now_s,
            priority=comer.priority,
            write_s=comer.write_s,
            report_s=comer.report_s,
            collects=comer.collects,
        )
        if comer.stop_s is not None:
            self.sim.cancel(ctx, at_s=now_s + comer.stop_s)
        for happens, span_s in (
            (self.sim.park, comer.away_s),
            (self.sim.stand_still, comer.still_s),
        ):
            if span_s is not None:
                start_s = now_s + span_s[0]
                happens(ctx, at_s=start_s, until_s=start_s + span_s[1])


@pytest.mark.parametrize(("capacity", "max_batch"), [(CAPACITY, MAX_BATCH), (CROWDED, 2)])
@FAST
@given(comers=st.lists(COMERS, min_size=1, max_size=50))
def test_who_is_let_in_is_heard_to_the_end(capacity, max_batch, comers):
    house = House(capacity, max_batch)
    house.receive(comers)
    sim = house.sim
    assert set(house.served) == sim.over
    for ctx, comer in house.served.items():
        if comer.stop_s is None:
            assert house.first_s(ctx) < WITHIN_S
        if not comer.disturbed:
            assert sim.late_s[ctx] < LATE_S
    assert sim.runner.begun == sim.runner.released
    assert not sim.runner.released_at_work
    assert house.door.free == 4096


def test_those_with_every_advantage_do_not_starve_one_with_none():
    sim = Simulated(DEVICE)
    sim.say(1, 40, 80, at_s=1.0, priority=-10)
    for ctx in range(2, 400):
        sim.say(ctx, 4, at_s=0.5 + ctx / 12, priority=10)
    sim.run(20.0)
    assert 1 in sim.over
    assert sim.first_s[1] - sim.asked_s[1] < WITHIN_S
    assert sim.late_s[1] < 0.1


def test_newcomers_in_bursts_make_nobody_late_who_speaks():
    sim = Simulated(DEVICE)
    speaking, coming = range(1, 6), range(100, 100 + 10 * (CAPACITY - 5))
    for ctx in speaking:
        sim.say(ctx, 150, 150, at_s=1.0 + ctx / 10)
    for index, ctx in enumerate(coming):
        sim.say(ctx, 8, at_s=4.0 + 1.1 * (index // (CAPACITY - 5)))
    sim.run(30.0)
    assert sim.over >= {*speaking, *coming}
    assert all(sim.late_s[ctx] < 0.005 for ctx in speaking)
    assert all(sim.first_s[ctx] - sim.asked_s[ctx] < 0.6 for ctx in coming)


def test_who_makes_a_file_has_it_as_soon_as_the_device_can_and_nobody_is_late_for_it():
    sim = Simulated(DEVICE)
    sim.say(1, 150, 150, 150, at_s=1.0, report_s=1.0, collects=True)
    for ctx in range(2, 8):
        sim.say(ctx, 80, 80, at_s=1.0 + ctx / 10)
    sim.run(12.0)
    assert 1 in sim.over
    assert sim.samples[1] > 20 * 24_000  # in 11 s
    sim.run(40.0)
    assert all(sim.late_s[ctx] < 0.02 for ctx in range(2, 8))
