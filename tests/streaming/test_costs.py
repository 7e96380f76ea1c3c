import pytest

from streaming.costs import PRIOR_S_PER_UNIT, Costs


def test_before_anything_ran_the_prior_holds():
    assert Costs().predict_s("speech", 100) == pytest.approx(100 * PRIOR_S_PER_UNIT)


def test_the_first_step_replaces_the_prior():
    costs = Costs()
    costs.learn("speech", 50, 0.1)
    assert costs.predict_s("speech", 100) == pytest.approx(0.2)


def test_later_steps_move_the_average():
    costs = Costs()
    costs.learn("speech", 1, 0.010)
    for _ in range(100):
        costs.learn("speech", 1, 0.020)
    assert costs.predict_s("speech", 1) == pytest.approx(0.020, rel=0.01)


def test_stages_are_learned_apart():
    costs = Costs()
    costs.learn("flow", 1, 0.5)
    assert costs.predict_s("vocoder", 1) == pytest.approx(PRIOR_S_PER_UNIT)


def test_a_step_of_nothing_teaches_nothing():
    costs = Costs()
    costs.learn("speech", 0, 1.0)
    assert costs.predict_s("speech", 1) == pytest.approx(PRIOR_S_PER_UNIT)
