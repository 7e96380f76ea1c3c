"""Whatever rows there are: who is in the next step."""

from hypothesis import example, given
from hypothesis import strategies as st
from making import waiting

from streaming.costs import Costs
from streaming.scheduler import Deadlines, rank
from streaming.steps import Cost, Stage, Want

NOW_S = 100.0
RATE = 24_000

STAGES = st.builds(Stage, st.just("speech"), max_batch=st.integers(1, 12), patient=st.booleans())
COSTS = st.builds(Cost, base_s=st.floats(0.0, 0.05), unit_s=st.floats(0.0, 0.05))
ROWS = st.lists(
    st.tuples(
        st.just(0.0) | st.floats(-2.0, 0.0),  # when it asked
        st.none() | st.sampled_from([0.0, 0.05]) | st.floats(0.0, 3.0),  # ahead, once started
        st.floats(0.5, 20.0),  # units
        st.integers(-10, 10),  # priority
    ),
    min_size=1,
    max_size=30,
)


def made(rows, costs):
    for ctx, (asked_s, ahead_s, units, priority) in enumerate(rows, start=1):
        context = waiting(ctx, arrived_s=NOW_S + asked_s, priority=priority)
        if ahead_s is not None:
            context.produced(1 + round(ahead_s * RATE), NOW_S)
        yield rank(context, Want("speech", units), context.deadline_s(NOW_S), costs)


@given(ROWS, STAGES, COSTS)
def test_the_most_pressing_is_always_in_it_and_made_late_by_none(rows, stage, cost):
    costs = Costs({"speech": cost})
    ranked = sorted(made(rows, costs))
    chosen = Deadlines().choose(stage, ranked, NOW_S, costs)
    first = min(chosen)
    assert first is ranked[0]
    assert len(chosen) <= stage.max_batch
    assert len({row.ctx for row in chosen}) == len(chosen)
    if NOW_S + cost.of(first.want.units) <= first.finish_by_s:
        end_s = NOW_S + cost.of(sum(row.want.units for row in chosen))
        assert end_s <= first.finish_by_s + 1e-9


@given(ROWS, STAGES)
@example([(0.0, 0.0, 1.0, 0)] * 8 + [(0.0, None, 1.0, 0)] * 3, Stage("speech", max_batch=8))
def test_some_of_those_who_have_heard_nothing_are_in_every_step_that_has_room(rows, stage):
    costs = Costs({"speech": Cost(0.0, 0.0)})
    ranked = list(made(rows, costs))
    chosen = Deadlines(filled=1e9, hurried=1e9).choose(stage, ranked, NOW_S, costs)
    firsts = sum(not row.context.started for row in ranked)
    share = min(firsts, stage.max_batch // 4)
    assert sum(not row.context.started for row in chosen) >= share
    assert len(chosen) == min(len(ranked), stage.max_batch)
