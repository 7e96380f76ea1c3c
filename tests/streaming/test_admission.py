import pytest

from streaming.admission import Slots
from streaming.errors import Overloaded


def test_one_more_than_there_are_is_refused_with_a_time_to_retry():
    slots = Slots(2)
    slots.take(1)
    slots.take(2)
    with pytest.raises(Overloaded, match="2 contexts") as refused:
        slots.take(3)
    assert refused.value.retryable
    assert refused.value.retry_after_ms


def test_a_slot_given_back_is_free_at_once():
    slots = Slots(1)
    slots.take(1)
    slots.give_back(1)
    slots.take(2)
    assert slots.free == 0


def test_giving_back_twice_frees_one_slot():
    slots = Slots(2)
    slots.take(1)
    slots.take(2)
    slots.give_back(1)
    slots.give_back(1)
    assert slots.free == 1
