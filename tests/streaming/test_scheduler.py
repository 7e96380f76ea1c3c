"""The policy in simulated time: no clock, no model, the same code as in the engine."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making import context, segment, waiting

from streaming.context import Context, Pending
from streaming.costs import Costs
from streaming.scheduler import (
    CROWDED,
    NEVER,
    PRIORITY_S,
    Deadlines,
    Line,
    UnderWay,
    expect,
    rank,
)
from streaming.steps import Cost, Following, Stage, Want

RATE = 24_000
AHEAD_S = 6.0
CHAR_S = 0.06
"""Speech a character."""

ALONE = Stage("speech")
FREE = Costs({"speech": Cost(base_s=0.005, unit_s=0.0)})
"""One row more costs nothing."""


def plan(stage, contexts, now_s, costs, policy=None):
    """The contexts of the next step."""
    rows = [
        rank(each, want, each.deadline_s(now_s), costs)
        for each in contexts
        if (want := each.wants.get(stage.name)) and each.runnable(AHEAD_S)
    ]
    line = line_of(stage, rows, policy or Deadlines())
    return [row.context for row in line.choose(now_s, costs)] if rows else []


def line_of(stage, rows, policy):
    line = Line(stage, policy)
    for row in rows:
        line.put(row)
    return line


def chosen(contexts, now_s=0.0, *, max_batch=1, costs=None):
    stage = Stage("speech", max_batch=max_batch)
    return [each.open.ctx for each in plan(stage, contexts, now_s, costs or Costs())]


def started(ctx, *, ahead_s, now_s=0.0):
    made = waiting(ctx, arrived_s=now_s - 1.0)
    made.produced(round(ahead_s * RATE), now_s)
    return made


class TestRanking:
    def test_nothing_runnable_is_an_empty_batch(self):
        assert chosen([context(1)]) == []

    def test_who_runs_dry_first_goes_first(self):
        assert chosen([started(1, ahead_s=3.0), started(2, ahead_s=0.5)]) == [2]

    def test_a_newcomer_goes_before_one_who_has_a_second_to_play(self):
        assert chosen([started(1, ahead_s=1.0), waiting(2)]) == [2]

    def test_one_about_to_run_dry_goes_before_a_newcomer(self):
        assert chosen([started(1, ahead_s=0.02), waiting(2)]) == [1]

    def test_of_two_deadlines_alike_the_step_that_takes_longer_begins_first(self):
        costs = Costs()
        costs.learn("speech", 1, 0.001)
        assert chosen([waiting(1, units=10), waiting(2, units=90)], costs=costs) == [2]

    def test_priority_decides_between_deadlines_that_are_alike(self):
        assert chosen([waiting(1), waiting(2, priority=10)]) == [2]

    def test_priority_does_not_outweigh_a_deadline_that_is_far(self):
        gap_s = 21 * PRIORITY_S
        early, late = waiting(1, priority=-10), waiting(2, arrived_s=gap_s, priority=10)
        assert chosen([early, late]) == [1]

    def test_a_context_queued_behind_another_waits_for_those_heard_now(self):
        assert chosen([waiting(1, audible_s=9.0), started(2, ahead_s=4.0)]) == [2]


class TestBatches:
    def test_all_go_where_all_fit(self):
        assert chosen([started(1, ahead_s=2.0), waiting(2)], max_batch=8) == [2, 1]

    def test_a_share_is_kept_for_those_who_have_sent_nothing(self):
        pressing = [started(ctx, ahead_s=0.01 * ctx) for ctx in range(1, 9)]
        newcomers = [waiting(ctx, arrived_s=5.0) for ctx in (20, 21, 22)]
        batch = chosen([*pressing, *newcomers], max_batch=8, costs=FREE)
        assert sorted(batch) == [1, 2, 3, 4, 5, 6, 20, 21]

    def test_a_share_nobody_wants_is_used_by_the_others(self):
        speaking = [started(ctx, ahead_s=0.01 * ctx) for ctx in range(1, 12)]
        assert chosen(speaking, max_batch=8, costs=FREE) == [1, 2, 3, 4, 5, 6, 7, 8]


class TestStepsOfSeveralStages:
    def test_only_those_that_want_the_stage_are_in_its_batch(self):
        other = waiting(2, stage="flow")
        assert chosen([waiting(1), other], max_batch=8) == [1]

    def test_what_must_follow_makes_a_step_more_pressing(self):
        far = waiting(1, arrived_s=0.1, then=[Following("flow", 100.0, times=10)])
        assert chosen([waiting(2), far]) == [1]

    def test_what_is_in_the_making_makes_a_step_less_pressing(self):
        fed = waiting(1)
        fed.wants = {"speech": Want("speech", 10.0, spare_s=1.0)}
        assert chosen([fed, waiting(2, arrived_s=0.5)]) == [2]

    def test_a_long_step_is_not_joined_to_one_that_it_would_make_late(self):
        playing = started(1, ahead_s=0.05)
        long = waiting(2, units=200.0, arrived_s=5.0)
        short = waiting(3, units=20.0, arrived_s=5.0)
        assert chosen([playing, long, short], max_batch=8) == [1, 3]

    def test_what_is_late_already_keeps_nobody_out(self):
        late = started(1, ahead_s=-0.5)
        assert sorted(chosen([late, waiting(2, units=200.0)], max_batch=8)) == [1, 2]

    def test_where_one_row_more_costs_nothing_all_join(self):
        playing = started(1, ahead_s=0.05)
        rest = [waiting(ctx, units=200.0) for ctx in (2, 3, 4)]
        assert chosen([playing, *rest], max_batch=8, costs=FREE) == [1, 2, 3, 4]


PATIENT = Stage("flow", max_batch=64, patient=True)
PRICES = Costs({"flow": Cost(0.010, 0.001), "vocoder": Cost(0.002, 0.0)})
"""A step costs as much as ten rows of one unit."""


def want(slack_s, ctx=1, *, units=1.0, **kwargs):
    """A row of a context that plays, at 0 s; ``slack_s``: until its step must begin."""
    playing = waiting(ctx, arrived_s=-1.0)
    own_s = CROWDED * PRICES.predict_s("flow", units)
    playing.produced(round((own_s + slack_s) * RATE), 0.0)
    playing.hasty = kwargs.pop("hasty", False)
    asked = Want("flow", units, **kwargs)
    return rank(playing, asked, playing.deadline_s(0.0), PRICES)


class TestPatience:
    policy = Deadlines(early_s=0.3, join_s=1.0, alone=0.0)

    def due_s(self, slack_s, under_way_s=NEVER, *, own=0, **policy):
        line = line_of(PATIENT, [want(slack_s)], replace(self.policy, **policy))
        return line.due_s(UnderWay(under_way_s, own))

    def taken(self, *rows, now_s=0.0):
        line = line_of(PATIENT, rows, self.policy)
        return [row.ctx for row in line.choose(now_s, PRICES)]

    def test_nobody_is_never_due(self):
        assert Line(PATIENT, self.policy).due_s(UnderWay()) == NEVER

    def test_an_idle_device_begins_early(self):
        assert self.due_s(0.5) == pytest.approx(0.2, abs=1e-4)

    def test_and_earlier_the_fewer_could_join(self):
        policy = replace(self.policy, alone=10.0)
        for rows, early_s in ((1, 3.3), (10, 0.6), (100, 0.33)):
            line = line_of(PATIENT, [want(9.0, ctx) for ctx in range(rows)], policy)
            assert line.due_s(UnderWay()) == pytest.approx(9.0 - early_s, abs=1e-3)

    def test_and_at_once_for_who_waits_to_hear_anything(self):
        asked = waiting(1, arrived_s=0.0)
        slow = Costs({"flow": Cost(0.6, 0.0)})
        expect(asked, slow)
        step = Want("flow", then=(Following("flow"),) * 4)
        row = rank(asked, step, asked.deadline_s(0.0), slow)
        line = line_of(PATIENT, [row], self.policy)
        assert line.due_s(UnderWay()) == -NEVER

    def test_who_follows_what_still_plays_waits_like_the_others(self):
        asked = waiting(1, arrived_s=0.0)
        asked.start_in(9.0, 0.0)
        row = rank(asked, Want("flow"), asked.deadline_s(0.0), PRICES)
        assert line_of(PATIENT, [row], self.policy).due_s(UnderWay()) > 8.0

    def test_beside_what_presses_less_a_step_begins_a_little_early(self):
        assert self.due_s(0.5, under_way_s=0.9) == pytest.approx(0.4, abs=1e-4)

    def test_behind_one_of_its_own_stage_it_is_queued_once_it_presses(self):
        assert self.due_s(0.5, own=1) == pytest.approx(0.4, abs=1e-4)
        assert self.due_s(0.5, under_way_s=0.1, own=1) == NEVER

    def test_beside_what_presses_more_it_waits_for_that(self):
        assert self.due_s(0.5, under_way_s=0.1) == NEVER

    def test_a_stage_without_patience_is_due_at_once(self):
        line = line_of(Stage("flow"), [want(5.0)], self.policy)
        assert line.due_s(UnderWay(0.1)) == -NEVER

    def test_who_has_time_for_long_does_not_join(self):
        assert self.taken(want(0.0, 1), want(0.9, 2), want(1.1, 3)) == [1, 2]

    def test_rows_join_until_the_step_is_much_longer_than_one_of_none(self):
        rows = [want(0.5, ctx, units=20.0) for ctx in range(1, 12)]
        assert len(self.taken(*rows)) == 5  # 10 ms + 5 x 20 ms; 12 x 10 ms is the most

    def test_who_is_late_is_joined_by_those_who_press_and_few_others(self):
        late = want(-0.5, 1)
        pressing = [want(0.03, ctx) for ctx in range(2, 8)]
        others = [want(0.5, ctx) for ctx in range(8, 30)]
        assert self.taken(late, *others) == [1, 8, 9, 10, 11]
        assert self.taken(late, *pressing, *others) == [1, 2, 3, 4, 5, 6, 7]

    def test_one_goes_however_long_it_takes(self):
        assert self.taken(want(0.0, 1, units=900.0)) == [1]


class TestHaste:
    policy = Deadlines(early_s=0.3, join_s=1.0, alone=0.0)

    def test_who_makes_a_file_has_an_idle_device_at_once(self):
        line = line_of(PATIENT, [want(30.0, hasty=True)], self.policy)
        assert line.due_s(UnderWay()) == -NEVER
        assert len(line.choose(0.0, PRICES)) == 1

    def test_and_what_is_left_of_a_busy_one(self):
        line = line_of(PATIENT, [want(30.0, hasty=True)], self.policy)
        assert line.due_s(UnderWay(0.0)) == NEVER
        line.put(want(0.1, 2))
        assert [row.ctx for row in line.choose(0.0, PRICES)] == [2, 1]

    def test_a_line_knows_whether_anybody_is_in_haste(self):
        line = line_of(PATIENT, [want(30.0, hasty=True)], self.policy)
        line.put(want(20.0, hasty=True))
        assert line.eager == 1
        line.drop(1)
        line.drop(1)
        assert line.eager == 0
        line.put(want(30.0, hasty=True))
        line.put(want(30.0))
        assert line.eager == 0


class TestWhatFollows:
    def test_what_a_beginning_takes_is_found_at_the_beginning(self):
        newcomer = waiting()
        newcomer.wants = {"flow": Want("flow", 10.0, (Following("vocoder"),))}
        expect(newcomer, PRICES)
        assert newcomer.start_s == pytest.approx(CROWDED * 0.022)


@dataclass
class Stream:
    """A context in simulated time, whose listener plays without pause."""

    context: Context
    first_audio_s: float | None = None
    worst_lateness_s: float = 0.0
    underrun_s: float = 0.0
    dry_s: float | None = None


@dataclass
class Simulation:
    """One worker that runs what the scheduler plans; time is what the steps take."""

    s_per_char: float
    base_s: float = 0.0
    now_s: float = 0.0
    costs: Costs = field(default_factory=Costs)
    streams: dict[int, Stream] = field(default_factory=dict)
    arrivals: list[tuple[float, int, int]] = field(default_factory=list)
    """``(when, ctx, chars)``: segments still to come."""

    def add(self, ctx, when_s, chars, *, priority=0):
        self.arrivals += [(when_s, ctx, each) for each in chars]
        self.streams[ctx] = Stream(context(ctx, priority=priority, audible_s=when_s))

    def run(self, until_s):
        self.arrivals.sort(key=lambda arrival: arrival[0])
        while self.now_s < until_s:
            self._let_in()
            contexts = [stream.context for stream in self.streams.values()]
            batch = plan(ALONE, contexts, self.now_s, self.costs)
            if batch:
                self._step(self.streams[batch[0].open.ctx])
            else:
                self.now_s = self._next_event_s(until_s)

    def _let_in(self):
        for stream in self.streams.values():
            self._listen(stream)
        while self.arrivals and self.arrivals[0][0] <= self.now_s:
            when_s, ctx, chars = self.arrivals.pop(0)
            context = self.streams[ctx].context
            context.queue.append(Pending(segment("x" * chars), when_s))
            self._ask(context)

    @staticmethod
    def _ask(context):
        if context.head is not None:
            chars = len(context.head.segment.text)
            context.wants = {"speech": Want("speech", chars)}

    def _listen(self, stream):
        if stream.first_audio_s is not None:
            heard_s = stream.context.produced_samples / RATE - max(0, stream.dry_s - self.now_s)
            stream.context.played(round(heard_s * RATE), self.now_s)

    def _next_event_s(self, until_s):
        nexts = [arrival[0] for arrival in self.arrivals[:1]]
        return min([*nexts, self.now_s + 0.05, until_s])

    def _step(self, stream):
        chars = len(stream.context.head.segment.text)
        took_s = self.base_s + self.s_per_char * chars
        lateness_s = self.now_s - stream.context.deadline_s(self.now_s)
        stream.worst_lateness_s = max(stream.worst_lateness_s, lateness_s)
        self.now_s += took_s
        self.costs.learn("speech", chars, took_s)
        arrived_s = stream.context.queue.popleft().arrived_s
        self._hear(stream, chars * CHAR_S, arrived_s)
        stream.context.produced(round(chars * CHAR_S * RATE), self.now_s)
        self._ask(stream.context)

    def _hear(self, stream, audio_s, arrived_s):
        if stream.first_audio_s is None:
            stream.first_audio_s = stream.dry_s = self.now_s
        if arrived_s <= stream.dry_s:
            stream.underrun_s = max(stream.underrun_s, self.now_s - stream.dry_s)
        stream.dry_s = max(stream.dry_s, self.now_s) + audio_s


def test_a_text_of_5000_characters_does_not_hold_up_one_of_two_words():
    simulation = Simulation(s_per_char=0.0004)
    simulation.add(1, 0.0, [200] * 25)
    simulation.add(2, 0.1, [9])
    simulation.run(2.0)
    longest_step_s, own_step_s = 200 * 0.0004, 9 * 0.0004
    waited_s = simulation.streams[2].first_audio_s - 0.1
    assert waited_s <= longest_step_s + own_step_s


def test_fifty_who_talk_without_pause_have_no_gap_and_start_at_once():
    simulation = Simulation(s_per_char=0.0002, base_s=0.004)
    for ctx in range(50):
        simulation.add(ctx, ctx * 0.1, [30] + [90] * 10)
    simulation.run(60.0)
    streams = simulation.streams.values()
    assert max(stream.underrun_s for stream in streams) == 0
    assert max(stream.first_audio_s - 0.1 * ctx for ctx, stream in enumerate(streams)) < 0.15


def test_a_queue_is_worked_off_no_faster_than_it_is_heard():
    simulation = Simulation(s_per_char=0.0002)
    simulation.add(1, 0.0, [100] * 50)
    simulation.run(10.0)
    heard_s = 10.0
    made_s = simulation.streams[1].context.produced_samples / RATE
    assert made_s <= heard_s + AHEAD_S + 100 * CHAR_S


arrivals = st.lists(
    st.tuples(
        st.floats(0, 5),
        st.lists(st.integers(1, 200), min_size=1, max_size=12),
        st.integers(-10, 10),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(arrivals, st.floats(0.0001, 0.05))
def test_nobody_starves_however_great_the_load_and_whatever_the_priorities(contexts, s_per_char):
    """Late by at most one turn of everyone else, counted from the deadline of the work."""
    simulation = Simulation(s_per_char=s_per_char)
    for ctx, (when_s, chars, priority) in enumerate(contexts):
        simulation.add(ctx, when_s, chars, priority=priority)
    step_s = 200 * max(s_per_char, 0.0005)
    simulation.run(5.0 + sum(sum(chars) for _, chars, _ in contexts) * (s_per_char + CHAR_S))
    bound_s = 2 * step_s + 20 * PRIORITY_S + (len(contexts) + 1) * step_s
    for stream in simulation.streams.values():
        assert not stream.context.queue
        assert stream.worst_lateness_s <= bound_s


@given(st.permutations(range(1, 9)))
def test_the_order_in_which_contexts_are_listed_does_not_matter(order):
    contexts = {ctx: started(ctx, ahead_s=ctx % 3) for ctx in order}
    assert chosen([contexts[ctx] for ctx in order], max_batch=3) == [3, 6, 1]
