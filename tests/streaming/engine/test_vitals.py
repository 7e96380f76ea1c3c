import sys

import pytest
from making import context, waiting

from streaming.engine.vitals import FIRST_LATE_S, LATE_S, Vitals, is_late, rss_mib


def test_it_counts_what_is_there():
    parked = waiting(2)
    parked.parked = True
    stats = Vitals(slots=10, steps=3, audio_samples=48_000).say([context(1), parked], {"": 5}, 0.0)
    assert (stats.contexts, stats.parked, stats.queued_segments) == (2, 1, 1)
    assert stats.capacity == {"": 5}
    assert (stats.free_slots, stats.steps, stats.audio_s) == (8, 3, 2.0)


def test_it_speaks_once_a_second_and_sooner_when_the_load_changes():
    vitals = Vitals(slots=10)
    assert vitals.due_s(0) < 0
    vitals.say([context(1)], {}, 5.0)
    assert vitals.due_s(1) == pytest.approx(6.0)
    assert vitals.due_s(2) == pytest.approx(5.1)


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_memory_is_told_in_mib():
    assert 5 < rss_mib() < 5_000


class TestWhoIsLate:
    def test_is_told_by_number(self):
        late, well = waiting(1, arrived_s=0.0), waiting(2, arrived_s=9.9)
        assert Vitals(slots=10).say([late, well, context(3)], {}, 10.0).late == (1,)

    def test_is_none_whose_text_has_not_come(self):
        starved = waiting(1, arrived_s=0.0)
        starved.starved = True
        assert not is_late(starved, 10.0)

    def test_is_one_whose_listener_has_run_dry(self):
        going_on = waiting(1)
        going_on.produced(24_000, 0.0)
        assert not is_late(going_on, 1.0 + LATE_S)
        assert is_late(going_on, 1.01 + LATE_S)

    def test_is_one_whose_first_audio_is_long_overdue(self):
        begun = waiting(1)
        due_s = begun.deadline_s(0.0)
        assert not is_late(begun, due_s + FIRST_LATE_S)
        assert is_late(begun, due_s + FIRST_LATE_S + 0.01)

    def test_is_nobody_who_has_nothing_to_say_or_waits_for_something_else(self):
        parked, voiceless, collecting = (waiting(ctx) for ctx in (1, 2, 3))
        parked.parked = collecting.hasty = True
        voiceless.voice_ready = False
        for each in (parked, voiceless, collecting, context(4)):
            assert not is_late(each, 1_000.0)

    def test_is_one_whose_listener_ran_dry_since_the_last_figures_and_is_told_once(self):
        vitals, going_on = Vitals(slots=10), waiting(1)
        going_on.produced(24_000, 0.0)
        assert vitals.say([going_on], {}, 1.0).late == ()
        going_on.produced(24_000, 1.5)
        assert vitals.say([going_on], {}, 2.0).late == (1,)
        assert vitals.say([going_on], {}, 2.1).late == ()
