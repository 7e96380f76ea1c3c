"""Patience and restarts, on a clock moved by hand; the processes are not there."""

import asyncio

import pytest

from streaming.clock import ManualClock
from streaming.config import EngineSettings
from streaming.engine import supervisor
from streaming.engine.child import Child
from streaming.engine.supervisor import STEADY_S, Supervisor
from streaming.engine.wire import from_engine
from streaming.messages import Fatal, TextEnd

HANG_S = 8.0
LOAD_S = 100.0


class Case:
    """A supervisor whose children are started in name alone."""

    def __init__(self, probe=None):
        self.clock = ManualClock()
        self.spawned = []
        self.killed = 0
        self.states = []
        self.watched = Supervisor(
            "engine",
            EngineSettings(hang_timeout_s=HANG_S, load_timeout_s=LOAD_S),
            self.clock,
            reader=from_engine,
            on_messages=lambda _: None,
            on_change=lambda: self.states.append(self.watched.state),
            probe=probe,
        )

    async def spawn(self, child, kind, settings):
        self.spawned.append((child, kind, settings))
        child.kill = self.kill

    def kill(self):
        self.killed += 1

    def speak(self):
        self.watched._hear([Fatal(message="anything")])

    def die(self):
        self.spawned[-1][0]._end()

    async def pass_time(self, by_s):
        self.clock.advance(by_s)
        await asyncio.sleep(0)
        await asyncio.sleep(0)


@pytest.fixture
async def case(monkeypatch):
    made = Case()
    monkeypatch.setattr(supervisor, "spawn", made.spawn)
    monkeypatch.setattr(Child, "alive", True)
    await made.watched.start()
    return made


class TestSilence:
    async def test_past_the_limit_is_answered_with_a_kill(self, case):
        case.watched.came_up()
        await case.pass_time(HANG_S)
        assert case.killed == 0
        await case.pass_time(HANG_S / 2)
        assert case.killed > 0

    async def test_any_word_is_a_sign_of_life(self, case):
        case.watched.came_up()
        for _ in range(10):
            await case.pass_time(HANG_S / 2)
            case.speak()
        assert case.killed == 0

    async def test_while_it_loads_may_be_longer(self, case):
        await case.pass_time(LOAD_S)
        assert case.killed == 0
        await case.pass_time(HANG_S)
        assert case.killed > 0

    async def test_of_a_child_is_not_blamed_on_it_when_we_ourselves_were_late(self, case):
        case.watched.came_up()
        # A stalled event loop: the check that was due long ago is made only now.
        case.clock._now_s += 10 * HANG_S
        await case.pass_time(0.0)
        assert case.killed == 0


class TestRestarts:
    async def test_it_is_started_again_at_once(self, case):
        case.watched.came_up()
        case.die()
        assert case.watched.reason == "restarting"
        await case.pass_time(0.0)
        assert len(case.spawned) == 2
        case.watched.came_up()
        assert case.states == ["ready", "restarting", "ready"]
        assert case.watched.reason == ""

    async def test_early_deaths_in_a_row_are_answered_ever_more_slowly(self, case):
        waits = []
        for _ in range(4):
            case.die()
            began_s, count = case.clock.now(), len(case.spawned)
            while len(case.spawned) == count:
                await case.pass_time(0.05)
            waits.append(case.clock.now() - began_s)
        assert waits == pytest.approx([0.05, 0.25, 0.5, 1.0], abs=0.06)

    async def test_a_long_life_is_a_new_beginning(self, case):
        for _ in range(3):
            case.die()
            await case.pass_time(1.0)
        case.watched.came_up()
        for _ in range(4):
            await case.pass_time(STEADY_S / 3)
            case.speak()
        count = len(case.spawned)
        case.die()
        await case.pass_time(0.0)
        assert len(case.spawned) == count + 1

    async def test_one_that_gave_up_is_not_started_again(self, case):
        case.watched.give_up("no such model")
        case.die()
        await case.pass_time(60.0)
        assert len(case.spawned) == 1
        assert case.watched.reason == "failed: no such model"

    async def test_a_system_without_room_for_it_is_asked_again(self, case, monkeypatch):
        async def refuse(*_):
            raise OSError("too many processes")

        monkeypatch.setattr(supervisor, "spawn", refuse)
        case.die()
        await case.pass_time(0.0)
        monkeypatch.setattr(supervisor, "spawn", case.spawn)
        await case.pass_time(1.0)
        assert len(case.spawned) == 2
        assert case.watched.restarts == 2

    async def test_closed_it_stays_closed(self, case):
        case.watched.came_up()
        await case.watched.close()
        await case.pass_time(60.0)
        assert len(case.spawned) == 1
        assert case.watched.state == "closed"


async def test_one_that_must_be_asked_is_asked_from_the_beginning(monkeypatch):
    case = Case(probe=TextEnd(ctx=0))
    monkeypatch.setattr(supervisor, "spawn", case.spawn)
    await case.watched.start()
    (child, _, _), *_ = case.spawned
    for _ in range(3):
        await case.pass_time(HANG_S / 4)
    assert child._outbox == [TextEnd(ctx=0)] * 4
