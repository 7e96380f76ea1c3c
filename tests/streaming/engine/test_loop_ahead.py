"""A stage whose next step may be launched before the one in front of it was read."""

from concurrent.futures import Future

import numpy as np
from test_loop import Mailbox, kinds, opened

from streaming.clock import ManualClock
from streaming.config import EngineSettings
from streaming.engine.loop import Engine
from streaming.errors import DeviceFull
from streaming.messages import Audio, Cancel, Failed, Finished, Released, SegmentStarted, Stats
from streaming.runners.base import Later, Made
from streaming.runners.tone import ToneRunner
from streaming.steps import Stage, Want

SOUND = np.full(2400, 0.1, np.float32)


class Held(ToneRunner):
    """Steps of a second of speech that end when a test says so."""

    stages = (Stage("llm", max_batch=8, in_flight=2, ahead=2),)

    def __init__(self, settings):
        super().__init__(settings)
        self.begun = 0
        self.unloaded = False
        self.launched, self.released = [], []
        self.under_way = []

    def begin(self, _work):
        self.begun += 1
        return self.begun

    def wants(self, _work, _costs):
        return (Want("llm"),)

    def step(self, _stage, batch):
        self.launched.append([(work.ctx, work.state) for work in batch])
        self.under_way.append((Future(), [work.state for work in batch]))
        return Later(self.under_way[-1][0])

    def release(self, state):
        self.released.append(state)

    def unload(self):
        assert self.released == list(range(1, self.begun + 1))
        self.unloaded = True

    def end(self, *, done=False, fails=False):
        """The oldest step comes to its end."""
        future, states = self.under_way.pop(0)
        bad = RuntimeError("of the device")
        future.set_result([bad if fails else Made(SOUND, done, state) for state in states])


class Bench:
    def __init__(self, runner=Held, **settings):
        settings = EngineSettings(runner="tone", max_ahead_s=1000.0, **settings)
        self.runner, self.mailbox, self.clock = runner(settings), Mailbox(), ManualClock()
        self.engine = Engine(self.runner, settings, self.mailbox, self.clock)

    def turn(self, *messages, times=3):
        self.mailbox.inbox.extend(messages)
        self.mailbox.sent.clear()
        for _ in range(times):
            self.engine.turn()
        return [each for each in self.mailbox.sent if not isinstance(each, Stats)]


def test_a_second_step_of_a_context_is_queued_behind_its_first_and_no_third():
    bench = Bench()
    bench.turn(*opened(1, "Hello."))
    assert bench.runner.launched == [[(1, 1)], [(1, 1)]]
    bench.runner.end()
    assert kinds(bench.turn()) == [SegmentStarted, Audio]
    assert bench.runner.launched == [[(1, 1)]] * 3


def test_who_comes_meanwhile_shares_the_second():
    bench = Bench()
    bench.turn(*opened(1, "Hello."), times=1)
    bench.turn(*opened(2, "Hello."))
    assert bench.runner.launched == [[(1, 1)], [(1, 1), (2, 2)]]


def test_a_segment_that_was_complete_before_its_last_step_hears_no_more_of_it():
    bench = Bench()
    bench.turn(*opened(1, "Hello.", "Again."))
    bench.runner.end(done=True)
    first = bench.turn()
    assert bench.runner.released == [1]
    assert bench.runner.launched[2:] == [[(1, 2)]]
    bench.runner.end()  # the one in vain
    assert bench.turn() == []
    bench.runner.end(done=True)
    events = first + bench.turn()
    assert kinds(events).count(SegmentStarted) == 2
    assert kinds(events)[-1] is Finished
    sound = np.concatenate(
        [np.frombuffer(each.pcm, "<i2") for each in events if isinstance(each, Audio)]
    )
    assert np.count_nonzero(np.abs(sound) > 3000) < 2 * len(SOUND)
    assert bench.runner.released == [1, 2]


def test_after_a_cancel_its_state_and_its_slot_are_kept_until_both_have_come_to_their_end():
    bench = Bench()
    bench.turn(*opened(1, "Hello."))
    assert bench.turn(Cancel(ctx=1)) == []
    for released, told in (([], []), ([1], [Released])):
        bench.runner.end()
        assert kinds(bench.turn()) == told
        assert bench.runner.released == released
    assert len(bench.runner.launched) == 2


def test_one_that_failed_is_over_once_nothing_of_it_is_under_way():
    bench = Bench()
    bench.turn(*opened(1, "Hello."))
    bench.runner.end(fails=True)
    assert bench.turn() == []
    bench.runner.end()
    assert kinds(bench.turn()) == [Failed]
    assert bench.runner.released == [1]


def test_a_model_is_kept_until_what_is_under_way_for_nobody_has_come_to_its_end():
    bench = Bench(unload_after_s=1.0)
    bench.turn(*opened(1, "Hello."))
    bench.turn(Cancel(ctx=1))
    for _ in range(5):
        bench.clock.advance(2.0)
        bench.turn()
    assert not bench.runner.unloaded
    bench.runner.end()
    bench.runner.end()
    for _ in range(2):
        bench.turn()
        bench.clock.advance(2.0)
    assert bench.runner.released == [1]
    assert bench.runner.unloaded


class Tight(Held):
    """Two stages that work beside each other."""

    stages = (Stage("llm", max_batch=8), Stage("flow", max_batch=8))

    def wants(self, _work, _costs):
        return (Want("llm"), Want("flow"))

    def step(self, stage, batch):
        later = super().step(stage, batch)
        self.under_way[-1] = (*self.under_way[-1], stage)
        return later

    def end_of(self, stage, result):
        """The step of that stage under way comes to its end, for every row as ``result`` says."""
        (mine,) = [each for each in self.under_way if each[2] == stage]
        self.under_way.remove(mine)
        future, states, _ = mine
        future.set_result([result(state) for state in states])


def test_where_memory_is_full_one_ends_and_the_others_wait_until_it_has_left():
    bench = Bench(Tight)
    runner = bench.runner
    bench.turn(*opened(1, "Hello."), *opened(2, "Hello."), *opened(3, "Hello."))
    assert runner.launched == [[(1, 1), (2, 2), (3, 3)]] * 2
    runner.end_of("flow", lambda _: DeviceFull("no page is free"))
    assert bench.turn() == []
    assert len(runner.launched) == 2, "the third still has a step of the other stage"
    runner.end_of("llm", lambda state: Made(SOUND[:0], False, state))
    (failed,) = bench.turn()
    assert (failed.ctx, failed.code) == (3, "overloaded")
    assert [(1, 1), (2, 2)] in runner.launched[2:]
    runner.end_of("flow", lambda state: Made(SOUND, True, state))
    runner.end_of("llm", lambda state: Made(SOUND[:0], False, state))
    assert {each.ctx for each in bench.turn() if isinstance(each, Finished)} == {1, 2}
