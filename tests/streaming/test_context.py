import pytest
from making import context, segment, waiting

from streaming.context import Mark, Pending

SECOND = 24_000
AHEAD_S = 6.0


def test_the_first_segment_is_due_its_target_after_it_came():
    assert waiting(arrived_s=10.0, target_s=0.15).deadline_s(10.1) == pytest.approx(10.15)


def test_a_context_queued_behind_another_is_due_when_that_one_ends():
    behind = waiting(arrived_s=10.0, audible_s=13.0)
    assert behind.deadline_s(10.0) == pytest.approx(13.0)


def test_its_turn_can_come_sooner_than_was_thought():
    behind = waiting(arrived_s=10.0, audible_s=13.0)
    behind.start_in(0.0, 10.5)
    assert behind.deadline_s(10.5) == pytest.approx(10.5)


def test_once_it_speaks_it_is_due_when_the_listener_runs_dry():
    speaking = waiting(arrived_s=0.0)
    speaking.produced(2 * SECOND, 1.0)
    assert speaking.deadline_s(1.5) == pytest.approx(3.0)


def test_audio_for_a_later_turn_is_heard_from_that_turn_on():
    speaking = waiting(arrived_s=0.0, audible_s=5.0)
    speaking.produced(2 * SECOND, 1.0)
    assert speaking.deadline_s(1.5) == pytest.approx(7.0)


def test_a_report_of_what_was_played_puts_the_clock_right():
    speaking = waiting(arrived_s=0.0)
    speaking.produced(2 * SECOND, 1.0)
    speaking.played(SECOND // 2, 2.0)
    assert speaking.deadline_s(2.0) == pytest.approx(3.5)


def test_a_listener_who_stands_still_does_not_put_the_deadline_off():
    speaking = waiting(arrived_s=0.0)
    speaking.produced(SECOND, 1.0)
    speaking.played(SECOND, 2.0)
    speaking.played(SECOND, 9.0)
    assert speaking.deadline_s(9.0) == pytest.approx(2.0)


def test_no_more_counts_as_played_than_there_is():
    speaking = waiting()
    speaking.produced(SECOND, 0.0)
    speaking.played(99 * SECOND, 1.0)
    assert speaking.played_samples == SECOND


def test_text_that_comes_after_silence_is_answered_like_a_first_segment():
    quiet = context(target_s=0.15)
    quiet.produced(SECOND, 1.0)
    quiet.queue.append(Pending(segment(index=1), 8.0))
    assert quiet.deadline_s(8.0) == pytest.approx(8.15)


def test_after_a_hole_the_listener_hears_on_from_the_new_audio():
    late = waiting(arrived_s=0.0)
    late.produced(SECOND, 1.0)
    late.produced(SECOND, 5.0)
    assert late.deadline_s(5.0) == pytest.approx(6.0)


def test_a_context_far_ahead_of_its_listener_waits_until_that_one_has_heard_more():
    speaking = waiting()
    speaking.produced(7 * SECOND, 0.0)
    assert not speaking.runnable(AHEAD_S)
    speaking.played(2 * SECOND, 2.0)
    assert speaking.runnable(AHEAD_S)


def test_parked_without_voice_or_without_work_nothing_runs():
    parked, voiceless, idle = waiting(), waiting(), context()
    parked.parked = True
    voiceless.voice_ready = False
    assert not any(one.runnable(AHEAD_S) for one in (parked, voiceless, idle))


def test_a_mark_is_no_work():
    marked = context()
    marked.queue.append(Mark("a"))
    assert marked.head is None
    assert marked.segments == 0


def test_it_is_complete_when_it_has_ended_and_nothing_waits():
    ending = waiting()
    ending.ended = True
    assert ending.on_last_segment
    assert not ending.complete
    ending.queue.popleft()
    assert ending.complete


class TestHaste:
    def speaking(self, *, made_s=30, now_s=1.0, **kwargs):
        made = waiting(arrived_s=0.0, **kwargs)
        made.produced(made_s * SECOND, now_s)
        return made

    def test_who_takes_audio_faster_than_it_can_be_heard_is_in_haste(self):
        file = self.speaking()
        file.played(SECOND, 1.1)
        file.played(10 * SECOND, 2.0)
        assert file.hasty

    def test_haste_puts_no_deadline_forward(self):
        file = self.speaking()
        file.played(SECOND, 2.0)
        file.played(30 * SECOND, 3.0)
        assert file.deadline_s(3.0) == pytest.approx(31.0)

    def test_a_listener_is_in_none(self):
        listener = self.speaking()
        for second in range(1, 20):
            listener.played(second * SECOND, 1.0 + second + 0.01)
            assert not listener.hasty

    def test_nor_one_whose_turn_came_sooner_than_was_thought(self):
        sooner = self.speaking(audible_s=9.0)
        sooner.played(SECOND, 3.0)
        sooner.played(2 * SECOND, 4.0)
        assert not sooner.hasty
        assert sooner.deadline_s(4.0) == pytest.approx(32.0)


def test_what_a_device_cannot_do_is_not_owed():
    slow = waiting(arrived_s=10.0, target_s=0.15)
    slow.start_s = 0.4
    assert slow.deadline_s(10.0) == pytest.approx(10.4)


def test_silence_in_its_midst_is_counted_and_that_before_its_text_came_is_not():
    late = waiting(1, arrived_s=0.0)
    late.produced(24_000, 1.0)
    assert late.waited_s == 0
    late.produced(24_000, 2.3)
    assert late.waited_s == pytest.approx(0.3)
    asked = waiting(2, arrived_s=5.0)
    asked.produced(24_000, 1.0)
    asked.produced(24_000, 5.1)
    assert asked.waited_s == pytest.approx(0.1)
