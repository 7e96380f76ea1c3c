"""Where contexts stand for their next steps: a line a stage, each entry with its deadline.

Knows: what a context could have next, and whether it may. Does not know: when a step is launched,
what comes of it.
"""

from __future__ import annotations

from collections.abc import Callable

from streaming.context import Context
from streaming.costs import Costs
from streaming.engine.live import Live
from streaming.runners.base import Runner, Work
from streaming.scheduler import NEVER, Line, Policy, expect, rank

DOWNSTREAM_FIRST_S = 1e-6
"""A context's step that is nearer to being heard must begin earlier by this: enough to go first."""


class StageLines:
    """The lines of a runner's stages."""

    def __init__(
        self,
        runner: Runner,
        policy: Policy,
        costs: Costs,
        now: Callable[[], float],
        max_ahead_s: float,
    ) -> None:
        self.each = tuple(Line(stage, policy) for stage in runner.stages)
        self._downstream_first = tuple((line.stage.name, line) for line in reversed(self.each))
        self._runner = runner
        self._costs = costs
        self._now = now
        self._max_ahead_s = max_ahead_s

    def begin(self, live: Live) -> None:
        """Its segment is begun and nothing of it made, or was starved and has text again."""
        self.ask(live)
        expect(live.context, self._costs)
        self.rank(live)

    def ask(self, live: Live) -> None:
        """Find out anew what could be launched for the segment at the head."""
        work = live.work
        assert work is not None, "only what has begun is asked"
        now_s = self._now()
        deadline_s = live.context.deadline_s(now_s)
        work.slack_s = deadline_s - now_s
        wants = self._runner.wants(work, self._costs)
        live.context.wants = {want.stage: want for want in wants}
        live.context.starved = work.starved and not live.under_way.total()
        self._place(live, deadline_s)

    def rank(self, live: Live) -> None:
        """Rank it anew: its deadline has changed, or whether it may run at all."""
        wanted = live.context.head is not None and live.context.wants
        self._place(live, live.context.deadline_s(self._now()) if wanted else 0.0)

    def leave(self, live: Live) -> None:
        """Nothing is to be launched for it."""
        live.context.wants = {}
        live.context.starved = False
        self.rank(live)

    def _place(self, live: Live, deadline_s: float) -> None:
        """Put its steps in the lines of their stages, or take them out."""
        context = live.context
        wants = context.wants
        runnable = context.runnable(self._max_ahead_s)
        parked = context.starved or not runnable
        if live.work is not None and (parked or live.work.parked):
            _tell_parked(live.work, context, parked, self._now())
        if not runnable or not wants:
            for line in self.each:
                line.drop(live.ctx)
            return
        # What is nearer to being heard goes first: a late context must not begin its next hop
        # before it has finished this one. Only where stages share a thread does that decide.
        not_before_s = -NEVER
        for name, line in self._downstream_first:
            want = wants.get(name)
            if want is not None and live.under_way.get(name, 0) < line.stage.ahead:
                row = rank(context, want, deadline_s, self._costs)
                if row.begin_by_s < not_before_s:
                    row = row._replace(begin_by_s=not_before_s)
                line.put(row)
                not_before_s = row.begin_by_s + DOWNSTREAM_FIRST_S
            else:
                line.drop(live.ctx)


def _tell_parked(work: Work, context: Context, parked: bool, now_s: float) -> None:
    """Tell the runner that it must wait, and for how long its listener has something to hear."""
    work.parked = parked
    if parked and context.head is not None:
        away = context.parked or context.starved
        work.slack_s = float("inf") if away else context.deadline_s(now_s) - now_s
