import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.admission import LEAST_RETRY_MS, MOST_RETRY_MS, Admission
from streaming.errors import Overloaded


def door(slots=10, capacity=2, **kwargs):
    admission = Admission(slots, **kwargs)
    admission.capacity = {"": capacity}
    return admission


def test_as_many_listeners_as_can_be_served_come_in_and_one_more_is_refused_at_once():
    admission = door()
    assert admission.offer(1, "a", 0.0)
    assert admission.offer(2, "b", 0.0)
    with pytest.raises(Overloaded, match="2 listeners") as refused:
        admission.offer(3, "c", 0.0)
    assert LEAST_RETRY_MS <= refused.value.retry_after_ms <= MOST_RETRY_MS
    assert admission.free == 8


def test_a_listener_who_is_served_may_have_more_contexts_while_there_is_memory():
    admission = door(slots=3, capacity=1)
    assert all(admission.offer(ctx, "a", 0.0) for ctx in (1, 2, 3))
    with pytest.raises(Overloaded, match="all 3 contexts"):
        admission.offer(4, "a", 0.0)


def test_the_first_listener_is_served_however_slow_the_machine():
    assert door(capacity=0).offer(1, "a", 0.0)


def test_a_place_is_free_when_the_last_context_of_its_listener_has_ended():
    admission = door(capacity=1)
    admission.offer(1, "a", 0.0)
    admission.offer(2, "a", 0.0)
    admission.give_back(1, 1.0)
    with pytest.raises(Overloaded):
        admission.offer(3, "b", 1.0)
    admission.give_back(2, 2.0)
    assert admission.offer(3, "b", 2.0)


def test_to_give_back_twice_or_what_was_never_held_changes_nothing():
    admission = door()
    admission.offer(1, "a", 0.0)
    for ctx in (1, 1, 99):
        assert admission.give_back(ctx, 1.0) == []
    assert (admission.free, admission.listeners()) == (10, 0)


def test_voices_of_another_lane_have_a_capacity_of_their_own():
    admission = Admission(10)
    admission.capacity = {"quick": 2, "slow": 1}
    assert admission.offer(1, "a", 0.0, lane="slow")
    with pytest.raises(Overloaded, match="1 listeners"):
        admission.offer(2, "b", 0.0, lane="slow")
    assert admission.offer(3, "b", 0.0, lane="quick")
    assert all(admission.offer(ctx, str(ctx), 0.0, lane="unbounded") for ctx in (4, 5, 6))


class TestTheQueue:
    def test_is_served_in_order_as_places_come_free(self):
        admission = door(capacity=1, queue=2, queue_s=2.0)
        assert admission.offer(1, "a", 0.0)
        assert not admission.offer(2, "b", 0.1)
        assert not admission.offer(3, "c", 0.2)
        assert admission.give_back(1, 0.5) == [2]
        assert admission.give_back(2, 0.6) == [3]

    def test_is_bounded(self):
        admission = door(capacity=1, queue=1, queue_s=2.0)
        admission.offer(1, "a", 0.0)
        admission.offer(2, "b", 0.0)
        with pytest.raises(Overloaded):
            admission.offer(3, "c", 0.0)

    def test_nobody_waits_for_ever(self):
        admission = door(capacity=1, queue=2, queue_s=2.0)
        admission.offer(1, "a", 0.0)
        admission.offer(2, "b", 1.0)
        assert admission.next_expiry_s() == 3.0
        assert admission.expired(2.9) == []
        assert admission.expired(3.0) == [2]
        assert admission.waiting == 0
        assert admission.next_expiry_s() is None

    def test_who_waits_may_leave(self):
        admission = door(capacity=1, queue=2, queue_s=2.0)
        admission.offer(1, "a", 0.0)
        admission.offer(2, "b", 0.0)
        assert admission.give_back(2, 0.5) == []
        assert admission.give_back(1, 1.0) == []
        assert admission.waiting == 0

    def test_nobody_overtakes_those_who_wait(self):
        admission = door(capacity=1, queue=3, queue_s=2.0)
        admission.offer(1, "a", 0.0)
        admission.offer(2, "b", 0.0)
        assert not admission.offer(3, "a", 0.0)


def test_a_busy_door_says_to_come_back_sooner_than_a_slow_one():
    quick, slow = door(capacity=1), door(capacity=1)
    for ctx in range(50):
        quick.offer(ctx, "a", ctx)
        quick.give_back(ctx, ctx + 0.5)
        slow.offer(ctx, "a", 60 * ctx)
        slow.give_back(ctx, 60 * ctx + 60)
    for admission in (quick, slow):
        admission.offer(100, "a", 0.0)
    assert quick.refusal().retry_after_ms < slow.refusal().retry_after_ms == MOST_RETRY_MS


moves = st.tuples(st.booleans(), st.integers(1, 12), st.integers(1, 6))


@given(st.integers(1, 4), st.integers(0, 4), st.lists(moves, max_size=60))
def test_whatever_happens_nobody_is_lost_and_no_bound_is_passed(capacity, queue, steps):
    admission = door(slots=5, capacity=capacity, queue=queue, queue_s=5.0)
    inside, outside = {}, {}
    for now_s, (comes, ctx, listener) in enumerate(steps):
        if comes and ctx not in inside and ctx not in outside:
            try:
                admitted = admission.offer(ctx, str(listener), now_s)
            except Overloaded:
                continue
            (inside if admitted else outside)[ctx] = str(listener)
        elif not comes:
            inside.pop(ctx, None)
            outside.pop(ctx, None)
            inside |= {each: outside.pop(each) for each in admission.give_back(ctx, now_s)}
        for late in admission.expired(now_s):
            del outside[late]
        assert admission.free == 5 - len(inside) >= 0
        assert admission.listeners() == len(set(inside.values())) <= capacity
        assert admission.waiting == len(outside) <= queue
