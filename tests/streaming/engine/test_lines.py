"""Who may have a step, and whose goes first."""

import pytest
from loop_bench import Bench, CountingRunner, kinds, opened

from streaming.messages import Audio, Park, Played, Unpark
from streaming.steps import Following, Stage, Want


class TestRunAhead:
    def test_stops_where_the_listener_is_far_behind(self):
        bench = Bench(max_ahead_s=2.0)
        events = bench.turn(*opened(1, "x" * 200, "x" * 200), times=100)
        made_s = sum(len(event.pcm) for event in events if isinstance(event, Audio)) / 48_000
        assert 2.0 <= made_s <= 2.2
        assert Audio in kinds(bench.turn(Played(ctx=1, samples=24_000), times=3))

    def test_a_parked_context_is_left_alone_until_it_is_not(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there."), times=2)
        assert bench.turn(Park(ctx=1), times=5) == []
        assert bench.stats().parked == 1
        assert Audio in kinds(bench.turn(Unpark(ctx=1)))

    def test_its_runner_is_told_who_must_wait_and_how_long_it_may(self):
        bench = Bench(max_ahead_s=2.0)
        bench.turn(*opened(1, "x" * 200), *opened(2, "x" * 200), times=100)
        works = {ctx: live.work for ctx, live in bench.engine._live.items()}
        assert [work.parked for work in works.values()] == [True, True]
        assert works[1].slack_s == pytest.approx(2.0, abs=0.3)
        bench.clock.advance(0.5)
        bench.turn(Played(ctx=1, samples=1200), Park(ctx=2))
        assert (works[1].parked, works[2].parked) == (True, True)
        assert works[2].slack_s == float("inf")
        bench.turn(Played(ctx=1, samples=36_000), Unpark(ctx=2))
        assert (works[1].parked, works[2].parked) == (False, True)


class TestStagesOfOneContext:
    def test_one_that_is_late_finishes_what_is_about_to_be_heard_before_it_begins_more(self):
        order = []

        class Staged(CountingRunner):
            """Always wants both: the first with work to follow that takes longer than it lasts."""

            stages = (Stage("llm"), Stage("vocoder"))

            def wants(self, _work, _costs):
                return [Want("llm", then=(Following("vocoder", 1e6),)), Want("vocoder")]

            def step(self, stage, batch):
                order.append(stage)
                return super().step(stage, batch)

        bench = Bench(Staged)
        bench.turn(*opened(1, "Hello there."), times=1)
        bench.clock.advance(5.0)
        bench.turn(times=2)
        assert order[0] == "vocoder"
