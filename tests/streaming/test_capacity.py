import pytest

from streaming.capacity import FULL, Steady, capacity, use
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


def test_one_slow_second_is_no_verdict_and_many_are():
    steady = Steady()
    assert steady.take("", 100) == 100
    assert 95 < steady.take("", 40) <= 100
    assert steady.take("other", 5) == 5
    assert steady.take("", 120) == 120
    for _ in range(3_000):
        last = steady.take("", 40)
    assert last == 40
