"""Listeners who interrupt: what was launched for them, and what is left of them."""

import random
from collections import Counter

import pytest
from simulated import Simulated

from streaming.admission import Admission
from streaming.scheduler import UnderWay

CONTEXTS = 3_000
AT_ONCE = 100
IN_FLIGHT = {"llm": 2, "flow": 1, "vocoder": 1}
"""Steps that may be under way for a context whose cancel is read."""


class Storm:
    """So many contexts at once, the next one after each; half of them are interrupted.

    Some are away when they are, or stand still.
    """

    def __init__(self, contexts, seed=7):
        self.random = random.Random(seed)
        self.sim = Simulated()
        self.door = Admission(AT_ONCE)
        self.left = iter(range(1, contexts + 1))
        self.cancelled = set()
        self.launched_after = []
        self.most_in_flight = Counter()
        self.cut_in = Counter()
        """Of those interrupted, how many had a step of that stage under way."""
        self.sim.on_over = self.over
        self.sim.world.on_cancel = self.read_cancel
        self.sim.runner.on_launch = self.launch

    def over(self, ctx):
        self.door.give_back(ctx, self.sim.world.now())
        self.next()

    def next(self):
        ctx = next(self.left, None)
        if ctx is None:
            return
        now_s = self.sim.world.now()
        self.door.offer(ctx, str(ctx), now_s)  # refused if one before it kept its slot
        at_s = now_s + self.random.uniform(0.0, 0.1)
        self.sim.say(ctx, self.random.randint(2, 20), at_s=at_s)
        if self.random.random() < 0.55:
            self.sim.cancel(ctx, at_s=at_s + self.random.uniform(0.0, 0.4))
        elif ctx % 10 == 0:
            away_s = at_s + self.random.uniform(0.0, 0.2)
            self.sim.park(ctx, at_s=away_s, until_s=away_s + 0.3)
            self.sim.cancel(ctx, at_s=away_s + self.random.uniform(0.0, 0.6))

    def read_cancel(self, ctx):
        self.cancelled.add(ctx)
        for stage in IN_FLIGHT:
            under_way = self.sim.runner.under_way[stage, ctx]
            self.cut_in[stage] += under_way > 0
            self.most_in_flight[stage] = max(self.most_in_flight[stage], under_way)

    def launch(self, stage, contexts):
        late = self.cancelled.intersection(contexts)
        self.launched_after += [(stage, ctx) for ctx in late]

    def rage(self):
        for _ in range(AT_ONCE):
            self.next()
        while len(self.sim.over) < CONTEXTS:
            self.sim.engine.turn()
        self.sim.run(self.sim.world.now() + 2.0)


@pytest.fixture(scope="module")
def storm():
    made = Storm(CONTEXTS)
    made.rage()
    return made


def test_half_of_them_are_interrupted_and_all_come_to_an_end(storm):
    assert 0.4 * CONTEXTS < len(storm.cancelled) < 0.6 * CONTEXTS
    assert len(storm.sim.over) == CONTEXTS


def test_nothing_is_launched_for_a_context_whose_cancel_was_read(storm):
    assert storm.launched_after == []


def test_only_what_was_in_flight_is_worked_off(storm):
    assert all(storm.most_in_flight[stage] <= most for stage, most in IN_FLIGHT.items())


def test_they_were_interrupted_in_the_middle_of_every_kind_of_step(storm):
    assert all(storm.cut_in[stage] > CONTEXTS / 200 for stage in IN_FLIGHT)


def test_what_a_step_under_way_works_with_is_kept_until_it_ends(storm):
    assert storm.sim.runner.released_at_work == []


def test_no_state_and_no_slot_is_lost(storm):
    runner, engine = storm.sim.runner, storm.sim.engine
    assert runner.begun == runner.released > 0.7 * CONTEXTS
    assert not +runner.under_way
    assert not engine._live
    lines = engine._lines.each
    assert all(line.due_s(UnderWay()) == float("inf") for line in lines)
    assert storm.door.free == AT_ONCE
    assert storm.door.listeners() == 0
