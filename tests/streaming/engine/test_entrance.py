"""The engine's entrance: what is kept for whom waits, and how waiting ends."""

import pytest

from streaming.admission import LEAVING_S
from streaming.clock import ManualClock
from streaming.config import EngineSettings
from streaming.engine.entrance import Entrance
from streaming.errors import Overloaded
from streaming.messages import Cancel, End, Open, Stats

STATS = Stats(
    contexts=0, parked=0, queued_segments=0, free_slots=0, steps=0, busy_s=0.0, audio_s=0.0,
    rss_mib=0.0,
)  # fmt: skip


class Hall:
    """An entrance with one place and one chair to wait on, for two seconds."""

    def __init__(self, **settings):
        self.clock = ManualClock()
        self.told, self.refused = [], {}
        settings = {"slots": 1, "queue": 1, "queue_ms": 2000, "host_reserve_mib": 0} | settings
        self.entrance = Entrance(
            EngineSettings(**settings), self.told.append, self.refuse, self.clock
        )

    def refuse(self, ctx, error):
        self.refused[ctx] = error
        self.entrance.release(ctx, cancelled=False)

    def come(self, ctx, lane=""):
        self.entrance.offer(ctx, str(ctx), lane, ())
        self.entrance.tell(ctx, Open(ctx=ctx, voice="a"))

    def go(self, ctx):
        """All of it is made and heard."""
        self.entrance.release(ctx, cancelled=False)
        self.entrance.let_go(ctx)

    def heard(self):
        """Whom the engine heard of, message by message."""
        heard = [(type(message).__name__, message.ctx) for message in self.told]
        self.told.clear()
        return heard


@pytest.fixture
def hall():
    return Hall()


def test_who_is_admitted_reaches_the_engine_at_once(hall):
    hall.come(1)
    assert hall.heard() == [("Open", 1)]
    assert hall.entrance.free == 0


def test_who_waits_is_heard_in_order_once_there_is_a_place(hall):
    hall.come(1)
    hall.come(2)
    hall.entrance.tell(2, End(ctx=2))
    assert hall.heard() == [("Open", 1)]
    hall.go(1)
    hall.entrance.tell(2, Cancel(ctx=2))
    assert hall.heard() == [("Open", 2), ("End", 2), ("Cancel", 2)]


def test_one_more_than_may_wait_is_refused_and_leaves_nothing_behind(hall):
    hall.come(1)
    hall.come(2)
    with pytest.raises(Overloaded):
        hall.come(3)
    hall.go(1)
    assert hall.heard() == [("Open", 1), ("Open", 2)]


def test_who_has_waited_long_enough_is_refused_and_the_next_may_wait(hall):
    hall.come(1)
    hall.come(2)
    hall.clock.advance(1.9)
    assert hall.refused == {}
    hall.clock.advance(0.2)
    assert [error.code for error in hall.refused.values()] == ["overloaded"]
    hall.come(3)
    assert hall.heard() == [("Open", 1)]


def test_who_leaves_before_their_turn_was_never_there_for_the_engine(hall):
    hall.come(1)
    hall.come(2)
    hall.entrance.release(2, cancelled=True)
    hall.entrance.release(1, cancelled=False)
    hall.clock.advance(10.0)
    assert hall.heard() == [("Open", 1)]
    assert (hall.refused, hall.entrance.free) == ({}, 1)


class TestAPlaceOfWhoWasCancelled:
    def test_is_free_when_the_engine_says_so(self, hall):
        hall.come(1)
        hall.come(2)
        hall.entrance.release(1, cancelled=True)
        assert hall.heard() == [("Open", 1)]
        hall.entrance.freed(1)
        assert hall.heard() == [("Open", 2)]

    def test_or_when_the_engine_has_said_nothing_for_too_long(self):
        hall = Hall(queue_ms=60_000)
        hall.come(1)
        hall.come(2)
        hall.entrance.release(1, cancelled=True)
        hall.clock.advance(LEAVING_S + 0.1)
        assert hall.heard() == [("Open", 1), ("Open", 2)]

    def test_or_when_the_engine_is_gone(self, hall):
        hall.come(1)
        hall.entrance.release(1, cancelled=True)
        assert hall.entrance.free == 0
        hall.entrance.engine_went()
        assert hall.entrance.free == 1


class TestWhatTheEngineSays:
    def test_it_may_have_fewer_slots_than_the_settings_and_never_more(self):
        hall = Hall(slots=8)
        hall.entrance.engine_came(3)
        assert hall.entrance.free == 3
        hall.entrance.engine_came(99)
        assert hall.entrance.free == 8

    def test_its_capacity_lets_in_who_waited_for_it(self):
        hall = Hall(slots=9, capacity=1)
        hall.entrance.learn(_with_capacity(1))
        hall.come(1)
        hall.come(2)
        assert hall.heard() == [("Open", 1)]
        assert hall.entrance.learn(_with_capacity(2)) == {"": 2}
        assert hall.heard() == [("Open", 2)]

    def test_short_memory_lets_in_the_first_alone(self):
        hall = Hall(slots=9)
        hall.entrance.learn(_with_capacity(9, device_memory_short=1.0))
        hall.come(1)
        hall.come(2)
        assert hall.heard() == [("Open", 1)]
        hall.entrance.learn(_with_capacity(9))
        assert hall.heard() == [("Open", 2)]


def _with_capacity(most, **figures):
    fields = {name: getattr(STATS, name) for name in STATS.__struct_fields__}
    return Stats(**fields | {"capacity": {"": most}, "figures": figures})
