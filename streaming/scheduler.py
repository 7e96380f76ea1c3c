"""Which contexts get the next step: pure policy, the same in real and in simulated time.

Every context with work has one deadline (``Context.deadline_s``). A step is ranked by the moment at
which it must begin at the latest: that deadline, later by the audio that is in the making already,
less the predicted cost of the step and of what must follow before the listener hears of it. A batch
takes rows in that order. Where rows are nearly free and steps are not, a step is not launched
before somebody needs it soon: until then its batch fills. Knows: contexts, costs, now. Does not
know: how time passes, what a step does.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

from streaming.context import Context
from streaming.costs import Costs
from streaming.steps import Stage, Want

PRIORITY_S = 0.005
"""What a point of priority is worth: it decides among deadlines that are alike, and starves none,
since a deadline that stays where it is overtakes any such lead."""

FIRST_SHARE = 4
"""One row in so many of a batch is kept for contexts that have sent nothing yet."""

CROWDED = 2.0
"""So many times as long as predicted is what follows taken to last: others come between."""

NEVER = float("inf")


class Row(NamedTuple):
    """A context that could have a step; rows compare as they rank."""

    begin_by_s: float
    """The step must begin by then; the lowest goes first."""
    ctx: int
    finish_by_s: float
    """And be finished by then."""
    context: Context
    want: Want


class Policy(Protocol):
    """What chooses the rows of a stage's next step."""

    def due_s(self, stage: Stage, rows: Collection[Row]) -> float:
        """When the stage's next step may be launched; ``NEVER`` where nothing of it can run."""
        ...

    def choose(self, stage: Stage, rows: Collection[Row], now_s: float, costs: Costs) -> list[Row]:
        """Its rows, most pressing first; of several stages, that with the lowest goes first."""
        ...


class Deadlines:
    """Ours."""

    def __init__(self, early_s: float = NEVER, join_s: float = NEVER) -> None:
        """A patient stage's steps are launched ``early_s`` before they must begin at the latest.

        Rows that must begin within ``join_s`` join them.
        """
        self._early_s = early_s
        self._join_s = join_s

    def due_s(self, stage: Stage, rows: Collection[Row]) -> float:
        """When the most pressing row should begin."""
        if not rows:
            return NEVER
        return min(rows).begin_by_s - self._early_s if stage.patient else -NEVER

    def choose(self, stage: Stage, rows: Collection[Row], now_s: float, costs: Costs) -> list[Row]:
        """The most pressing, as long as none makes one before it late."""
        joining: Iterable[Row] = rows
        if stage.patient:
            until_s = now_s + self._join_s
            joining = [row for row in rows if row[0] < until_s]
        return on_time(stage, within(stage.max_batch, joining), now_s, costs)


def rank(context: Context, want: Want, now_s: float, costs: Costs) -> Row:
    """The context's step among others of its stage."""
    finish_by_s = context.deadline_s(now_s) + want.spare_s - CROWDED * costs.path_s(want.then)
    own_s = CROWDED * costs.predict_s(want.stage, want.units)
    asked = context.open
    begin_by_s = finish_by_s - own_s - PRIORITY_S * asked.priority
    return Row(begin_by_s, asked.ctx, finish_by_s, context, want)


def within(max_batch: int, rows: Iterable[Row]) -> list[Row]:
    """The most pressing, with a share for those that have sent nothing yet."""
    ranked = sorted(rows)
    if len(ranked) <= max_batch:
        return ranked
    kept = max_batch // FIRST_SHARE
    firsts = heapq.nsmallest(kept, (row for row in ranked if not row.context.started))
    taken = {row.ctx for row in firsts}
    others = [row for row in ranked if row.ctx not in taken]
    return sorted(firsts + others[: max_batch - len(firsts)])


def on_time(stage: Stage, rows: list[Row], now_s: float, costs: Costs) -> list[Row]:
    """Those of ``rows`` that can share a step without making one late that would be in time.

    What is late already binds nobody: then much work done is worth more than one row's share of it.
    """
    line = costs.line(stage.name)
    chosen: list[Row] = []
    longest_s = stage.longest_s
    units, bound_s = 0.0, NEVER
    for row in rows:
        more = units + row.want.units
        took_s = line.base_s + line.unit_s * more
        end_s = now_s + took_s
        if chosen and (end_s > bound_s or took_s > longest_s):
            continue
        chosen.append(row)
        units = more
        if end_s <= row.finish_by_s < bound_s:
            bound_s = row.finish_by_s
    return chosen


class Line:
    """The rows of one stage that could be launched now."""

    def __init__(self, stage: Stage, policy: Policy) -> None:
        self.stage = stage
        self._policy = policy
        self._rows: dict[int, Row] = {}
        self._due_s: float | None = NEVER

    def put(self, row: Row) -> None:
        """The context's step, in place of what was known of it."""
        self._rows[row.ctx] = row
        self._due_s = None

    def drop(self, ctx: int) -> None:
        """The context has no step of this stage now."""
        if self._rows.pop(ctx, None) is not None:
            self._due_s = None

    def due_s(self) -> float:
        """When the next step may be launched, if nothing happens before."""
        if self._due_s is None:
            self._due_s = self._policy.due_s(self.stage, self._rows.values())
        return self._due_s

    def choose(self, now_s: float, costs: Costs) -> list[Row]:
        """The rows of the next step."""
        return self._policy.choose(self.stage, self._rows.values(), now_s, costs)
