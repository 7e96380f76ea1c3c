"""A context's segments through the loop, from the first to its end."""

import pytest
from loop_bench import Bench, kinds, opened

from streaming.messages import Audio, End, Finished, Mark, PlaceMark, SegmentStarted, Skipped
from streaming.runners.tone import ToneRunner


class TestAContext:
    def test_speaks_and_finishes_with_its_exact_length(self):
        events = Bench().turn(*opened(1, "Hello there.", "Again."), times=20)
        samples = sum(len(event.pcm) // 2 for event in events if isinstance(event, Audio))
        assert kinds(events)[0] is SegmentStarted
        assert isinstance(events[-1], Finished)
        assert events[-1].samples == samples > 0

    def test_without_a_word_is_skipped_and_finishes_with_nothing(self):
        events = Bench().turn(*opened(1, "…", "🙂"))
        assert kinds(events) == [Skipped, Skipped, Finished]
        assert events[-1].samples == 0

    def test_without_text_finishes_with_nothing(self):
        assert kinds(Bench().turn(*opened(1))) == [Finished]

    def test_answers_a_mark_after_the_audio_before_it(self):
        bench = Bench()
        mark = PlaceMark(ctx=1, mark="m")
        events = bench.turn(*opened(1, "Hi.", end=False), mark, times=10)
        assert kinds(events)[-1] is Mark
        audio = sum(len(event.pcm) // 2 for event in events if isinstance(event, Audio))
        # What is not sent yet is less than a chunk, and silence.
        assert audio <= events[-1].position_samples < audio + 1920

    def test_answers_a_mark_at_once_where_nothing_waits(self):
        bench = Bench()
        assert kinds(bench.turn(*opened(1, end=False), PlaceMark(ctx=1, mark="m"))) == [Mark]

    def test_that_ends_after_its_audio_still_gets_its_last_chunk(self):
        bench = Bench()
        before = bench.turn(*opened(1, "Hi.", end=False), times=10)
        after = bench.turn(End(ctx=1))
        assert kinds(after) == [Audio, Finished]
        total = sum(len(event.pcm) // 2 for event in before + after if isinstance(event, Audio))
        assert after[0].last
        assert total == after[1].samples

    def test_is_counted_with_what_it_cost(self):
        class Slow(ToneRunner):
            def step(self, stage, batch):
                bench.clock.advance(0.25)
                return super().step(stage, batch)

        bench = Bench(Slow)
        events = bench.turn(*opened(1, "ab"), times=3)
        assert events[-1].compute_s == pytest.approx(0.25)
        assert bench.stats().busy_s == pytest.approx(0.25)
