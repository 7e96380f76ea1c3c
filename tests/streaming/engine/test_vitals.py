import sys

import pytest
from making import context, waiting

from streaming.engine.vitals import Vitals, rss_mib


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
