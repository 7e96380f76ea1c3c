import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.admission import LEAST_RETRY_MS, LEAVING_S, MOST_RETRY_MS, Admission
from streaming.errors import Overloaded
from streaming.messages import Stats


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
    with pytest.raises(Overloaded, match="1 listener is"):
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
        assert admission.expired(2.9) == {}
        assert list(admission.expired(3.0)) == [2]
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
        assert not admission.offer(3, "c", 0.0)
        assert admission.give_back(1, 1.0) == [2]

    def test_who_is_heard_already_goes_on_since_that_takes_nothing_from_those_who_wait(self):
        admission = door(capacity=1, queue=3, queue_s=2.0)
        admission.offer(1, "a", 0.0)
        admission.offer(2, "b", 0.0)
        assert admission.offer(3, "a", 0.0)

    def test_voices_of_another_lane_do_not_wait_behind_it(self):
        admission = Admission(10, queue=3, queue_s=2.0)
        admission.capacity = {"slow": 1, "quick": 1}
        admission.offer(1, "a", 0.0, lane="slow")
        assert not admission.offer(2, "b", 0.0, lane="slow")
        assert admission.offer(3, "c", 0.0, lane="quick")
        assert not admission.offer(4, "d", 0.0, lane="quick")
        assert admission.give_back(3, 1.0) == [4]

    def test_who_has_waited_in_vain_is_told_of_their_own_lane(self):
        admission = Admission(10, queue=3, queue_s=2.0)
        admission.capacity = {"slow": 1}
        admission.offer(1, "a", 0.0, lane="slow")
        admission.offer(2, "b", 0.0, lane="slow")
        assert "1 listener is served" in admission.expired(2.0)[2].message

    @pytest.mark.parametrize(
        ("slots", "capacity", "told"),
        [
            (9, 1, "1 listener is served, as many as can be in time"),
            (9, 2, "2 listeners are served, as many as can be in time"),
            (1, 9, "the one context of this server is in use"),
            (2, 9, "all 2 contexts of this server are in use"),
        ],
    )
    def test_who_is_refused_is_told_why_in_good_english(self, slots, capacity, told):
        admission = door(slots=slots, capacity=capacity)
        for ctx in range(min(slots, capacity)):
            admission.offer(ctx, str(ctx), 0.0)
        with pytest.raises(Overloaded, match=told):
            admission.offer(99, "z", 0.0)


class TestAContextThatIsMadeButNotHeardYet:
    def test_has_a_slot_no_more_and_its_listener_still_counts(self):
        admission = door(slots=1, capacity=1, queue=1, queue_s=9.0)
        admission.offer(1, "a", 0.0)
        assert not admission.offer(2, "b", 0.0)
        assert admission.finish(1) == []
        assert (admission.free, admission.listeners()) == (1, 1)
        assert admission.give_back(1, 5.0) == [2]

    def test_lets_the_next_of_its_session_in(self):
        admission = door(slots=1, capacity=1)
        admission.offer(1, "a", 0.0)
        admission.finish(1)
        assert admission.offer(2, "a", 4.0)
        admission.give_back(1, 5.0)
        assert admission.listeners() == 1


class TestASlotOfWhoWasCancelled:
    def test_is_free_when_the_engine_has_let_go_of_it_and_the_next_waits_for_that(self):
        admission = door(slots=1)
        admission.offer(1, "a", 0.0)
        assert admission.leave(1, 1.0) == []
        assert admission.listeners() == 0
        assert not admission.offer(2, "a", 1.0)
        assert admission.finish(1) == [2]

    def test_is_waited_for_by_one_alone_where_there_is_no_queue(self):
        admission = door(slots=1)
        admission.offer(1, "a", 0.0)
        admission.leave(1, 1.0)
        admission.offer(2, "a", 1.0)
        with pytest.raises(Overloaded, match="the one context"):
            admission.offer(3, "b", 1.0)

    def test_is_not_waited_for_ever(self):
        admission = door(slots=1, queue=1, queue_s=60.0)
        admission.offer(1, "a", 0.0)
        admission.leave(1, 1.0)
        admission.offer(2, "a", 1.0)
        assert admission.next_expiry_s() == 1.0 + LEAVING_S
        assert admission.expired(1.0 + LEAVING_S) == {}
        assert admission.let_in() == [2]

    def test_is_free_at_once_where_the_engine_died(self):
        admission = door(slots=1)
        admission.offer(1, "a", 0.0)
        admission.leave(1, 1.0)
        admission.forget_leaving()
        assert admission.offer(2, "a", 1.2)

    def test_can_be_had_by_the_context_that_interrupts_it(self):
        admission = door(slots=1)
        admission.offer(1, "a", 0.0)
        with pytest.raises(Overloaded):
            admission.offer(2, "a", 1.0)
        assert not admission.offer(3, "a", 1.0, instead_of=[1])
        admission.leave(1, 1.0)
        assert admission.give_back(1, 1.1) == [3]

    def test_who_interrupts_while_there_is_room_need_not_wait(self):
        admission = door(slots=2)
        admission.offer(1, "a", 0.0)
        assert admission.offer(2, "a", 1.0, instead_of=[1])


class TestWhileMemoryIsShort:
    def test_nobody_new_comes_in_and_those_inside_go_on(self):
        admission = door(capacity=5, queue=1, queue_s=2.0)
        admission.offer(1, "a", 0.0)
        admission.short = "no memory is left"
        assert admission.offer(2, "a", 0.0)
        assert not admission.offer(3, "b", 0.0)
        with pytest.raises(Overloaded, match="no memory is left") as refused:
            admission.offer(4, "c", 0.0)
        assert refused.value.retry_after_ms == MOST_RETRY_MS
        admission.short = ""
        assert admission.let_in() == [3]

    def test_the_first_listener_is_served_all_the_same(self):
        admission = door(capacity=5)
        admission.short = "no memory is left"
        assert admission.offer(1, "a", 0.0)
        admission.give_back(1, 1.0)
        assert admission.offer(2, "b", 1.0)


def stats(capacity, busy_s, *late):
    return Stats(
        contexts=0, parked=0, queued_segments=0, free_slots=0, steps=0, busy_s=busy_s, audio_s=0.0,
        rss_mib=0.0, capacity=capacity, late=late,
    )  # fmt: skip


def test_what_the_engine_tells_is_learned_by_lane():
    admission = Admission(100)
    admission.learn(stats({"slow": 3, "quick": 50}, 0.0), 1.0)
    assert (admission.most("slow"), admission.most("quick"), admission.most("new")) == (3, 50, 100)
    for second in range(2, 30):
        admission.learn(stats({"slow": 1, "quick": 50}, second), second)
    assert admission.most("slow") == 1


class TestListenersThatAreKeptWaiting:
    def late(self, admission, *ctxs, until_s):
        for tenths in range(int(until_s * 10) + 1):
            admission.learn(stats(admission.capacity, tenths / 10, *ctxs), tenths / 10)

    def test_show_that_there_are_too_many_whatever_costs_say(self):
        admission = door(slots=100, capacity=50)
        for ctx in range(10):
            admission.offer(ctx, str(ctx), 0.0)
        self.late(admission, *range(4), until_s=1.0)
        assert admission.most() == 8
        with pytest.raises(Overloaded):
            admission.offer(20, "20", 1.0)
        for ctx in range(3):
            admission.give_back(ctx, 2.0)
        assert admission.offer(21, "21", 2.0)

    def test_of_one_lane_say_nothing_of_another(self):
        admission = Admission(100)
        admission.capacity = {"slow": 50, "quick": 50}
        for ctx in range(10):
            admission.offer(ctx, str(ctx), 0.0, lane="slow" if ctx < 5 else "quick")
        self.late(admission, 0, 1, 99, until_s=1.0)
        assert (admission.most("slow"), admission.most("quick")) == (4, 50)

    def test_of_one_session_count_once(self):
        admission = door(slots=100, capacity=50)
        for ctx in range(4):
            admission.offer(ctx, "a", 0.0)
        for ctx in range(4, 8):
            admission.offer(ctx, str(ctx), 0.0)
        self.late(admission, 0, 1, 2, 3, until_s=1.0)
        assert admission.most() == 4


def test_a_busy_door_says_to_come_back_sooner_than_a_slow_one():
    quick, slow = door(capacity=1), door(capacity=1)
    for ctx in range(50):
        quick.offer(ctx, "a", ctx)
        quick.give_back(ctx, ctx + 0.5)
        slow.offer(ctx, "a", 60 * ctx)
        slow.give_back(ctx, 60 * ctx + 60)
    for admission in (quick, slow):
        admission.offer(100, "a", 0.0)
    told = [admission.refusal("", 9e9).retry_after_ms for admission in (quick, slow)]
    assert told[0] < told[1] == MOST_RETRY_MS


def test_the_more_stand_outside_the_later_each_is_told_to_come_again():
    admission = door(capacity=10, slots=100)
    for ctx in range(10):
        admission.offer(ctx, str(ctx), 0.0)
    told = [admission.refusal("", 0.0).retry_after_ms for _ in range(30)]
    assert told == sorted(told)
    assert told[-1] > 10 * told[0]
    assert admission.refusal("", 5.0).retry_after_ms == told[0]


moves = st.tuples(st.sampled_from(["come", "end", "leave"]), st.integers(1, 12), st.integers(1, 6))


@given(st.integers(1, 4), st.integers(0, 4), st.lists(moves, max_size=60))
def test_whatever_happens_nobody_is_lost_and_no_bound_is_passed(capacity, queue, steps):
    admission = door(slots=5, capacity=capacity, queue=queue, queue_s=5.0)
    inside, outside, leaving = {}, {}, set()
    for now_s, (move, ctx, listener) in enumerate(steps):
        if move == "come" and ctx not in inside and ctx not in outside:
            try:
                admitted = admission.offer(ctx, str(listener), now_s)
            except Overloaded:
                continue
            (inside if admitted else outside)[ctx] = str(listener)
        elif move == "leave" and ctx in inside:
            leaving.add(ctx)
            inside |= {each: outside.pop(each) for each in admission.leave(ctx, now_s)}
        elif move == "end":
            leaving.discard(ctx)
            inside.pop(ctx, None)
            outside.pop(ctx, None)
            inside |= {each: outside.pop(each) for each in admission.give_back(ctx, now_s)}
        for late in admission.expired(now_s):
            del outside[late]
        if admission.free != 5 - len(inside):  # some were waited for long enough
            gone = [each for each in leaving if each not in admission._leaving]
            leaving -= set(gone)
            inside = {each: who for each, who in inside.items() if each not in gone}
        inside |= {each: outside.pop(each) for each in admission.let_in()}
        assert admission.free == 5 - len(inside) >= 0
        heard = {who for each, who in inside.items() if each not in leaving}
        assert admission.listeners() == len(heard) <= capacity
        assert admission.waiting == len(outside) <= queue + len(leaving)
