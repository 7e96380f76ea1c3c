"""Which contexts get the next step: pure policy, the same in real and in simulated time.

Every context with work has one deadline (``Context.deadline_s``). A step is ranked by the moment at
which it must begin at the latest: that deadline, later by the audio that is in the making already,
less the predicted cost of the step and of what must follow before the listener hears of it. A batch
takes rows in that order, as long as none makes a row before it late. Knows: contexts, costs, now.
Does not know: how time passes, what a step does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from streaming.context import Context
from streaming.costs import Costs
from streaming.steps import Stage, Want

PRIORITY_S = 0.005
"""What a point of priority is worth: it decides among deadlines that are alike, and starves none,
since a deadline that stays where it is overtakes any such lead."""

FIRST_SHARE = 4
"""One row in so many of a batch is kept for contexts that have sent nothing yet."""


@dataclass(frozen=True)
class Row:
    """A context that could have a step."""

    begin_by_s: float
    """The step must begin by then; the lowest goes first."""
    finish_by_s: float
    """And be finished by then."""
    context: Context
    want: Want


@dataclass(frozen=True)
class Batch:
    """A step to launch; its rows most pressing first."""

    stage: Stage
    rows: tuple[Row, ...]

    @property
    def begin_by_s(self) -> float:
        """When the most pressing row must begin."""
        return self.rows[0].begin_by_s

    @property
    def contexts(self) -> list[Context]:
        """The contexts of its rows."""
        return [row.context for row in self.rows]


class Policy(Protocol):
    """What chooses the rows of a stage's next step; batches compete by ``begin_by_s``."""

    def __call__(
        self,
        stage: Stage,
        contexts: Iterable[Context],
        now_s: float,
        costs: Costs,
        *,
        max_ahead_s: float,
    ) -> Batch | None:
        """The next step of ``stage``; ``None`` where nothing of it can run."""


def plan(
    stage: Stage,
    contexts: Iterable[Context],
    now_s: float,
    costs: Costs,
    *,
    max_ahead_s: float,
) -> Batch | None:
    """The next step of ``stage``; ``None`` where nothing of it can run."""
    rows = [
        _row(context, want, now_s, costs)
        for context in contexts
        if (want := context.wants.get(stage.name)) is not None and context.runnable(max_ahead_s)
    ]
    if not rows:
        return None
    chosen = _within(stage.max_batch, rows)
    return Batch(stage, tuple(_on_time(stage, chosen, now_s, costs)))


def _row(context: Context, want: Want, now_s: float, costs: Costs) -> Row:
    after_s = costs.path_s(want.then)
    finish_by_s = context.deadline_s(now_s) + want.spare_s - after_s
    own_s = costs.predict_s(want.stage, want.units)
    begin_by_s = finish_by_s - own_s - PRIORITY_S * context.open.priority
    return Row(begin_by_s, finish_by_s, context, want)


def _within(max_batch: int, rows: list[Row]) -> list[Row]:
    """The most pressing, with a share for those that have sent nothing yet."""
    if len(rows) <= max_batch:
        return sorted(rows, key=_order)
    kept = max_batch // FIRST_SHARE
    firsts = heapq.nsmallest(kept, (row for row in rows if not row.context.started), key=_order)
    taken = {row.context.open.ctx for row in firsts}
    others = (row for row in rows if row.context.open.ctx not in taken)
    return sorted(firsts + heapq.nsmallest(max_batch - len(firsts), others, key=_order), key=_order)


def _on_time(stage: Stage, rows: list[Row], now_s: float, costs: Costs) -> list[Row]:
    """Those of ``rows`` that can share a step without making one late that would be in time.

    What is late already binds nobody: then much work done is worth more than one row's share of it.
    """
    chosen: list[Row] = []
    units, bound_s = 0.0, float("inf")
    for row in rows:
        end_s = now_s + costs.predict_s(stage.name, units + row.want.units)
        if chosen and end_s > bound_s:
            continue
        chosen.append(row)
        units += row.want.units
        if row.finish_by_s >= end_s:
            bound_s = min(bound_s, row.finish_by_s)
    return chosen


def _order(row: Row) -> tuple[float, int]:
    return row.begin_by_s, row.context.open.ctx
