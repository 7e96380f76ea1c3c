import pytest

from streaming.capacity import FULL, LASTS_S, UNBOUNDED, Caution, Known, capacity, use
from streaming.costs import Costs
from streaming.steps import Cost, Following

COSTS = Costs({"llm": Cost(0.010, 0.0001), "flow": Cost(0.002, 0.00001)})


def second(contexts):
    """25 tokens a second, all contexts in a step; their frames 10 times through the flow."""
    return [Following("llm", contexts, 25), Following("flow", 50.0 * contexts, 10)]


def test_nobody_uses_nothing():
    assert use(second, COSTS, 0) == 0


def test_the_price_of_a_step_is_shared_and_that_of_a_row_is_not():
    assert use(second, COSTS, 1) == pytest.approx(25 * 0.0101 + 10 * 0.0025)
    assert use(second, COSTS, 2) < 2 * use(second, COSTS, 1)


def test_it_is_the_most_that_fits():
    fits = capacity(second, COSTS, 1000)
    assert use(second, COSTS, fits) <= FULL < use(second, COSTS, fits + 1)


def test_it_is_no_more_than_there_are_slots():
    assert capacity(second, COSTS, 8) == 8


def test_one_is_served_however_slow_the_machine():
    assert capacity(second, Costs({"llm": Cost(1.0, 0.0)}), 100) == 1


class TestWhatIsKnown:
    def taken(self, *readings, use, well=0, known=None, from_s=10):
        """Readings a second apart, of a machine that is used so much."""
        known = known or Known()
        for second, reading in enumerate(readings, from_s):
            told = known.take({"": reading}, {"": well}, use * second, float(second))
        return told[""]

    def test_is_what_costs_say_over_some_seconds(self):
        assert self.taken(100, *[40] * 3, use=0.8) > 50
        assert self.taken(100, *[40] * 20, use=0.8) == 40
        assert self.taken(100, *[120] * 20, use=0.8) == 120

    def test_follows_no_reading_up_and_down(self):
        assert 40 < self.taken(*[1, 100] * 20, use=0.8) < 70

    def test_is_what_the_first_steps_say_at_once_since_it_was_a_guess_before(self):
        known = Known()
        for second in range(3):
            known.take({"": 300}, {}, 0.1 * second, float(second))
        assert known.take({"": 3}, {}, 0.9, 3.0) == {"": 3}

    def test_is_a_little_more_than_what_goes_well_where_there_is_time_to_spare(self):
        assert 60 <= self.taken(100, *[40] * 20, well=60, use=0.5) <= 62
        assert self.taken(*[2] * 9, well=2, use=0.5) == 3

    def test_is_what_costs_say_where_there_is_none_though_nobody_is_late_yet(self):
        assert self.taken(100, *[40] * 20, well=60, use=0.95) == 40

    def test_what_went_well_is_forgotten_slowly_and_quickly_where_no_time_is_to_spare(self):
        known = Known()
        self.taken(*[40] * 10, well=60, use=0.5, known=known)
        assert self.taken(*[40] * 10, use=0.5, known=known, from_s=20) > 55
        assert self.taken(*[40] * 20, use=1.0, known=known, from_s=30) == 40

    def test_never_says_that_nobody_can_be_served(self):
        assert self.taken(0, use=1.0) == 1


class TestCaution:
    KNOWN = 100

    def seen(self, *lates, listeners=20, caution=None, from_s=0.0):
        caution = caution or Caution()
        for index, late in enumerate(lates):
            caution.take("", late, listeners, self.KNOWN, from_s + index * LASTS_S)
        return caution

    def test_sets_no_bound_while_nobody_is_kept_waiting(self):
        assert self.seen(0, 0, 0).most("") == UNBOUNDED
        assert Caution().most("unheard of") == UNBOUNDED

    def test_takes_a_moment_for_no_verdict(self):
        assert self.seen(20, 0, 20, 0).most("") == UNBOUNDED

    def test_takes_half_of_those_who_are_late_for_too_many(self):
        assert self.seen(2, 2).most("") == 19
        assert self.seen(20, 20).most("") == 10

    def test_does_not_fall_further_before_listeners_had_time_to_leave(self):
        assert self.seen(*[20] * 30).most("") == 10
        assert self.seen(5, 5, 5, listeners=12, caution=self.seen(20, 20), from_s=9).most("") == 10
        assert self.seen(5, 5, 5, listeners=8, caution=self.seen(20, 20), from_s=9).most("") == 6

    def test_never_says_that_nobody_can_be_served(self):
        assert self.seen(*[1] * 9, listeners=1).most("") == 1

    def test_rises_quickly_to_what_is_safe_and_slowly_from_there_on(self):
        caution = self.seen(20, 20)
        self.seen(*[0] * 16, caution=caution, from_s=1.0)
        assert 17 <= caution.most("") <= 19
        before = caution.most("")
        self.seen(*[0] * 16, caution=caution, from_s=9.0)
        assert before <= caution.most("") <= before + 2

    def test_forgets_what_it_saw_once_as_many_are_well_as_costs_allow(self):
        caution = self.seen(20, 20)
        self.seen(*[0] * 1200, caution=caution, from_s=1.0)
        assert caution.most("") == UNBOUNDED
