"""Steps: who shares one, what may be launched before another was read."""

import numpy as np
from loop_bench import SOUND, Bench, CountingRunner, HeldBench, kinds, opened

from streaming.messages import Audio, Finished, SegmentStarted


class TestBatches:
    def test_contexts_out_of_step_share_one(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there, you."), times=2)
        bench.turn(*opened(2, "Hello there, you."))
        assert sorted(bench.runner.batches[-1]) == [1, 2]

    def test_a_batch_makes_what_each_would_make_alone(self):
        def pcm(events, ctx):
            return b"".join(
                event.pcm for event in events if isinstance(event, Audio) and event.ctx == ctx
            )

        texts = {ctx: "Hello there." + "!" * ctx for ctx in range(1, 6)}
        messages = [each for ctx, text in texts.items() for each in opened(ctx, text, seed=ctx)]
        together = Bench().turn(*messages, times=30)
        for ctx, text in texts.items():
            alone = Bench().turn(*opened(ctx, text, seed=ctx), times=30)
            assert pcm(together, ctx) == pcm(alone, ctx) != b""

    def test_a_batch_that_fails_as_a_whole_is_run_again_row_by_row(self):
        class Moody(CountingRunner):
            def step(self, stage, batch):
                if len(batch) > 1:
                    raise RuntimeError("too many")
                return super().step(stage, batch)

        bench = Bench(Moody)
        events = bench.turn(*opened(1, "Hi."), *opened(2, "Hi."), times=10)
        assert {event.ctx for event in events if isinstance(event, Finished)} == {1, 2}

    def test_what_is_sent_is_numbers(self):
        (chunk, *_) = [e for e in Bench().turn(*opened(1, "Hello."), times=5) if type(e) is Audio]
        assert np.abs(np.frombuffer(chunk.pcm, "<i2")).max() > 1000


class TestAStepMore:
    def test_a_second_step_of_a_context_is_queued_behind_its_first_and_no_third(self):
        bench = HeldBench()
        bench.turn(*opened(1, "Hello."))
        assert bench.runner.launched == [[(1, 1)], [(1, 1)]]
        bench.runner.end()
        assert kinds(bench.turn()) == [SegmentStarted, Audio]
        assert bench.runner.launched == [[(1, 1)]] * 3

    def test_who_comes_meanwhile_shares_the_second(self):
        bench = HeldBench()
        bench.turn(*opened(1, "Hello."), times=1)
        bench.turn(*opened(2, "Hello."))
        assert bench.runner.launched == [[(1, 1)], [(1, 1), (2, 2)]]

    def test_a_segment_that_was_complete_before_its_last_step_hears_no_more_of_it(self):
        bench = HeldBench()
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
