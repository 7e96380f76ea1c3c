"""Every way to leave: finished, cancelled, failed, or to make room for others."""

from loop_bench import SOUND, Bench, Held, HeldBench, kinds, opened

from streaming.errors import DeviceFull, UnsupportedLanguage
from streaming.messages import Audio, Cancel, Failed, Finished, Played, Released
from streaming.runners.base import Made
from streaming.runners.tone import ToneRunner
from streaming.steps import Stage, Want


class TestCancel:
    def test_read_with_the_text_means_that_nothing_is_launched(self):
        bench = Bench()
        events = bench.turn(*opened(1, "Hello."), Cancel(ctx=1), times=3)
        assert kinds(events) == [Released]
        assert bench.runner.batches == []

    def test_in_mid_utterance_ends_it_with_the_step_that_ran(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there, you."), times=2)
        assert kinds(bench.turn(Cancel(ctx=1), times=5)) == [Released]
        assert len(bench.runner.batches) == 2

    def test_of_one_leaves_the_others(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there."), *opened(2, "Hello there."))
        events = bench.turn(Cancel(ctx=1), times=20)
        assert {event.ctx for event in events if not isinstance(event, Released)} == {2}
        assert isinstance(events[-1], Finished)

    def test_of_what_is_gone_says_nothing(self):
        assert Bench().turn(Cancel(ctx=9), Played(ctx=9, samples=1)) == []


class TestFaults:
    def test_one_row_that_raises_fails_alone(self):
        bench = Bench()
        messages = [each for ctx in (1, 3) for each in opened(ctx, "Hello.")]
        events = bench.turn(*messages, *opened(2, "[[raise]]"), times=20)
        (failed,) = [event for event in events if isinstance(event, Failed)]
        assert (failed.ctx, failed.code, failed.retryable) == (2, "synthesis_failed", True)
        assert {event.ctx for event in events if isinstance(event, Finished)} == {1, 3}

    def test_an_error_of_ours_is_told_as_it_is(self):
        class Refusing(ToneRunner):
            def step(self, _stage, batch):
                return [UnsupportedLanguage("not this")] * len(batch)

        (failed,) = Bench(Refusing).turn(*opened(1, "Hello."))
        assert (failed.code, failed.message) == ("unsupported_language", "not this")
        assert not failed.retryable

    def test_samples_that_are_no_numbers_fail_their_context(self):
        events = Bench().turn(*opened(1, "[[nan]]"))
        assert [event.code for event in events] == ["synthesis_failed"]

    def test_audio_before_the_fault_stays_good(self):
        events = Bench().turn(*opened(1, "Hello.", "[[raise]]"), times=20)
        assert Audio in kinds(events)
        assert isinstance(events[-1], Failed)

    def test_a_slot_is_free_after_every_kind_of_end(self):
        bench = Bench(slots=10)
        bench.turn(*opened(1, "Hi."), *opened(2, "[[raise]]"), *opened(3, "Hello."), times=5)
        bench.turn(Cancel(ctx=3), times=20)
        assert bench.stats().free_slots == 10


def test_one_that_failed_is_over_once_nothing_of_it_is_under_way():
    bench = HeldBench()
    bench.turn(*opened(1, "Hello."))
    bench.runner.end(fails=True)
    assert bench.turn() == []
    bench.runner.end()
    assert kinds(bench.turn()) == [Failed]
    assert bench.runner.released == [1]


def test_after_a_cancel_its_state_and_its_slot_are_kept_until_both_have_come_to_their_end():
    bench = HeldBench()
    bench.turn(*opened(1, "Hello."))
    assert bench.turn(Cancel(ctx=1)) == []
    for released, told in (([], []), ([1], [Released])):
        bench.runner.end()
        assert kinds(bench.turn()) == told
        assert bench.runner.released == released
    assert len(bench.runner.launched) == 2


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
    bench = HeldBench(Tight)
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
