"""What a runner of one stage says of a second of speech."""

import pytest

from streaming.costs import Costs
from streaming.runners.base import SPEECH, OneStage
from streaming.steps import Cost


class Sentences(OneStage):
    units_per_s = 15.0
    usual_units = 60.0
    room = 1.6


@pytest.mark.parametrize("contexts", [1, 10])
def test_a_steps_base_is_paid_once_a_step_and_not_once_a_second(contexts):
    """60 characters at 15 a second: a step every 4 s, of 20 ms and 1 ms a character."""
    costs = Costs({SPEECH: Cost(0.020, 0.001)})
    taken_s = costs.path_s(Sentences().second("all", contexts))
    assert taken_s == pytest.approx(1.6 * contexts * (0.020 + 0.060) / 4)
