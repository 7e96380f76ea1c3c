import pytest

from streaming.costs import Costs
from streaming.steps import Cost, Following

PRIOR = Cost()


def learned(*steps):
    costs = Costs()
    for units, took_s in steps:
        costs.learn("speech", units, took_s)
    return costs


def test_before_anything_ran_the_prior_holds():
    assert Costs().predict_s("speech", 100) == pytest.approx(PRIOR.of(100))
    assert Costs({"flow": Cost(0.02, 0.001)}).predict_s("flow", 10) == pytest.approx(0.03)


def test_the_first_step_replaces_the_prior():
    assert learned((50, 0.1)).predict_s("speech", 100) == pytest.approx(0.2)


def test_later_steps_move_the_average():
    costs = learned((1, 0.010), *[(1, 0.020)] * 100)
    assert costs.predict_s("speech", 1) == pytest.approx(0.020, rel=0.01)


def test_a_step_has_a_price_of_its_own_beside_its_rows():
    costs = learned(*[(rows, 0.030 + 0.002 * rows) for rows in (1, 16, 4, 8, 2, 12)])
    assert costs.predict_s("speech", 1) == pytest.approx(0.032)
    assert costs.predict_s("speech", 32) == pytest.approx(0.094)


def test_steps_that_are_all_alike_move_the_whole_line():
    costs = Costs({"flow": Cost(0.002, 0.00002)})
    for _ in range(50):
        costs.learn("flow", 100, 0.008)
    assert costs.predict_s("flow", 100) == pytest.approx(0.008)
    assert costs.line("flow").base_s == pytest.approx(0.004)


def test_a_path_is_as_long_as_its_steps():
    costs = Costs({"llm": Cost(0.01, 0.001), "flow": Cost(0.002, 0.0001)})
    steps = [Following("llm", 1.0, 25), Following("flow", 50.0, 10), Following("none", 1.0, 0)]
    assert costs.path_s(steps) == pytest.approx(25 * 0.011 + 10 * 0.007)


def test_no_noise_makes_a_price_negative():
    growing = learned((10, 0.001), (20, 0.05), (11, 0.001), (19, 0.04))
    falling = learned((10, 0.05), (20, 0.01), (11, 0.05), (19, 0.01))
    for costs in (growing, falling):
        assert costs.predict_s("speech", 0) >= 0
        assert costs.predict_s("speech", 100) >= costs.predict_s("speech", 1) >= 0


def test_stages_are_learned_apart():
    costs = Costs()
    costs.learn("flow", 1, 0.5)
    assert costs.predict_s("vocoder", 1) == pytest.approx(PRIOR.of(1))


def test_a_step_of_nothing_teaches_nothing():
    assert learned((0, 1.0)).predict_s("speech", 1) == pytest.approx(PRIOR.of(1))


def test_what_is_known_of_batches_outlives_a_time_when_nobody_makes_any():
    true = Cost(0.010, 0.0002)
    costs = Costs({"flow": true})
    for units in (100, 800) * 5 + (100,) * 1000:
        costs.learn("flow", units, true.of(units))
    assert costs.predict_s("flow", 1600) == pytest.approx(true.of(1600), rel=0.05)


def test_one_listener_s_uneven_steps_do_not_say_that_batches_are_free():
    costs = Costs({"vocoder": Cost(0.010, 0.0002)})
    for step in range(200):
        costs.learn("vocoder", 30 + 20 * (step % 2), 0.018 if step % 2 else 0.019)
    assert costs.predict_s("vocoder", 400) == pytest.approx(0.090, rel=0.2)


def test_what_a_prior_says_of_batches_gives_way_to_what_they_cost():
    costs = Costs({"llm": Cost(0.010, 0.0005)})
    true = Cost(0.0012, 0.00001)
    for step in range(400):
        units = 2 ** (step % 7)
        costs.learn("llm", units, true.of(units))
    assert costs.predict_s("llm", 1) == pytest.approx(true.of(1), rel=0.05)
    assert costs.predict_s("llm", 64) == pytest.approx(true.of(64), rel=0.15)
