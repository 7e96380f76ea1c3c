"""Whatever the arrivals: who fits is served."""

from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import Simulated

from benchmarks.capacity.device import ESTIMATES
from benchmarks.capacity.simulate import capacity_of
from streaming.admission import Admission
from streaming.errors import Overloaded

DEVICE = "4090"
WITHIN_S = 1.5
"""In which even the last of a burst of strangers with every advantage is heard."""

ARRIVALS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.0, 0.002, 0.05, 0.4]),
        st.lists(st.integers(1, 120), min_size=1, max_size=3),
        st.integers(-10, 10),
        st.sampled_from([None, None, 0.05, 0.5]),
    ),
    min_size=1,
    max_size=60,
)
"""Time since the last one, segments, priority, after how long it is interrupted."""


@settings(max_examples=8, deadline=None)
@given(ARRIVALS)
def test_who_is_let_in_is_heard_to_the_end(arrivals):
    sim = Simulated(DEVICE)
    door = Admission(4096)
    door.capacity = {"": capacity_of(ESTIMATES[DEVICE])}
    sim.on_over = lambda ctx: door.give_back(ctx, sim.world.now())
    served, interrupted = [], set()

    def arrive(ctx, chars, priority, stop_s):
        now_s = sim.world.now()
        try:
            door.offer(ctx, str(ctx), now_s)
        except Overloaded:
            return
        served.append(ctx)
        sim.say(ctx, *chars, at_s=now_s, priority=priority)
        if stop_s is not None:
            interrupted.add(ctx)
            sim.cancel(ctx, at_s=now_s + stop_s)

    at_s = 1.0
    for ctx, (gap_s, *what) in enumerate(arrivals, start=1):
        at_s += gap_s
        sim.world.at(at_s, lambda ctx=ctx, what=what: arrive(ctx, *what))
    sim.run(at_s + 30.0)

    assert set(served) == sim.over
    heard = [ctx for ctx in served if ctx not in interrupted]
    assert all(sim.first_s[ctx] - sim.asked_s[ctx] < WITHIN_S for ctx in heard)
    assert sim.runner.begun == sim.runner.released


def test_those_with_every_advantage_do_not_starve_one_with_none():
    sim = Simulated(DEVICE)
    sim.say(1, 40, 80, at_s=1.0, priority=-10)
    for ctx in range(2, 400):
        sim.say(ctx, 4, at_s=0.5 + ctx / 12, priority=10)
    sim.run(20.0)
    assert 1 in sim.over
    assert sim.first_s[1] - sim.asked_s[1] < WITHIN_S
    assert sim.late_s[1] < 0.1
