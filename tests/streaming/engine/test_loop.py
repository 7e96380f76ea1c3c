"""The loop as a whole: when it sleeps, what it says of itself, a model that nobody uses."""

import pytest
from loop_bench import Bench, CountingRunner, HeldBench, opened

from streaming.messages import Cancel, Finished


class TestSleep:
    def test_with_nothing_to_do_it_sleeps_until_its_next_sign_of_life(self):
        bench = Bench()
        bench.turn(times=2)
        assert bench.mailbox.rests[-1] == pytest.approx(1.0)

    def test_a_change_of_load_is_told_sooner(self):
        bench = Bench()
        bench.turn()
        bench.turn(*opened(1, end=False), times=2)
        assert bench.mailbox.rests[-1] == pytest.approx(0.1)

    def test_it_does_not_sleep_while_something_can_run(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there."), times=3)
        assert bench.mailbox.rests[-1] == 0


class TestRest:
    def test_a_model_that_nobody_uses_gives_its_memory_back_once_and_comes_back(self):
        class Heavy(CountingRunner):
            def __init__(self, settings):
                super().__init__(settings)
                self.known, self.unloads = {"tone-a"}, 0

            def has_voice(self, voice):
                return voice in self.known

            def load_voice(self, voice):
                self.known.add(voice)

            def unload(self):
                self.unloads += 1
                self.known.clear()

        bench = Bench(Heavy, unload_after_s=60.0)
        bench.turn(*opened(1, "Hi."), times=20)
        for _ in range(130):
            bench.stats()
        assert bench.runner.unloads == 1
        events = bench.turn(*opened(2, "Hi."))
        assert bench.mailbox.woken.wait(10)
        assert isinstance((events + bench.turn(times=20))[-1], Finished)

    def test_one_who_is_listened_to_keeps_it(self):
        class Kept(CountingRunner):
            def unload(self):
                raise AssertionError("somebody speaks")

        bench = Bench(Kept, unload_after_s=60.0)
        bench.turn(*opened(1, end=False))
        for _ in range(130):
            bench.stats()

    def test_every_step_can_be_traced(self, tmp_path):
        bench = Bench(trace=str(tmp_path / "trace.json"))
        bench.turn(*opened(1, "Hi."), *opened(2, "Hi."), times=20)
        bench.stats()
        bench.engine._trace.close()
        assert '"contexts":[1,2]' in (tmp_path / "trace.json").read_text(encoding="utf-8")


def test_a_model_is_kept_until_what_is_under_way_for_nobody_has_come_to_its_end():
    bench = HeldBench(unload_after_s=1.0)
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
