"""Which contexts get the next step: pure policy, the same in real and in simulated time.

Every context with work has one deadline (``Context.deadline_s``). A step is ranked by the moment at
which it must begin at the latest: that deadline, later by the audio that is in the making already,
less the predicted cost of the step and of what must follow before the listener hears of it. A batch
takes rows in that order. Where a row more is nearly free and a step is not, no step is launched
before somebody needs it: until then its batch fills. Each choice is shown to pay by
``benchmarks.capacity``. Knows: contexts, costs, now. Does not know: how time passes, what a step
does.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from streaming.context import Context
from streaming.costs import Costs
from streaming.steps import Stage, Want

PRIORITY_S = 0.005
"""What a point of priority is worth: it decides among deadlines that are alike, and starves none,
since a deadline that stays where it is overtakes any such lead."""

FIRST_SHARE = 4
"""One row in so many of a batch is kept for contexts that have sent nothing yet."""

CROWDED = 1.5
"""What must follow a step is taken to last so many times what is predicted: others come between."""

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
    hasty: bool = False
    """Nobody listens, so it has what is left of the device, as early as can be."""
    awaited: bool = False
    """Its listener hears nothing yet, nor anything before it: an idle device begins at once."""

    @property
    def eager(self) -> bool:
        """Whether an idle device should not wait for more rows."""
        return self.hasty or self.awaited


class UnderWay(NamedTuple):
    """What is under way when a stage could have its next step."""

    begin_by_s: float = float("inf")
    """Of the other stages' steps, when the most pressing had to begin; infinite: none is."""
    own: int = 0
    """Steps of the stage itself, which the next would stand behind."""


class Policy(Protocol):
    """What chooses when a stage has its next step, and its rows."""

    def first_s(self, stage: Stage, rows: Collection[Row]) -> float:
        """When the stage's next step must begin; ``NEVER`` where nothing of it can run."""
        ...

    def due_s(self, line: Line, first_s: float, beside: UnderWay) -> float:
        """When to launch such a step, if nothing happens before."""
        ...

    def choose(self, stage: Stage, rows: Collection[Row], now_s: float, costs: Costs) -> list[Row]:
        """Its rows, most pressing first; of several stages, that with the lowest goes first."""
        ...


@dataclass(frozen=True)
class Deadlines:
    """Our own policy: whoever must begin first, together with whom that makes late for nobody."""

    early_s: float = NEVER
    """On an idle device a step is launched so long before it must begin."""
    alone: float = 10.0
    """It is launched earlier still by so many times ``early_s``, divided by its rows: the fewer
    there are to be joined by others, the less is gained by waiting. And what is made early is
    there when another program has the device for a moment."""
    join_s: float = NEVER
    """Only rows that must begin within so long join a step."""
    margin_s: float = 0.1
    """A step presses from so long before it must begin."""
    filled: float = 12.0
    """Rows join a step until it takes so many times its base, which it costs without any row."""
    hurried: float = 1.5
    """The same, where somebody is late, for rows that do not press."""
    least_s: float = 0.005
    """Rows join until a step takes so long, however small its base: else a base that is taken to
    be nothing would keep steps small, and what larger ones cost would never be learned."""
    patient: bool = True
    """Whether stages may wait for rows at all."""

    def first_s(self, stage: Stage, rows: Collection[Row]) -> float:
        """When the most pressing row must begin; at once where nothing is gained by patience."""
        if not rows:
            return NEVER
        return min(rows).begin_by_s if stage.patient and self.patient else -NEVER

    def due_s(self, line: Line, first_s: float, beside: UnderWay) -> float:
        """When to launch the stage's next step, if nothing happens before.

        On an idle device it is launched early, or at once where somebody has heard nothing yet or
        waits for a file. Beside steps of other stages that press less, or behind one of its own
        stage, it is launched when it presses; beside one that presses more, when that has ended.
        """
        if beside.begin_by_s == NEVER and not beside.own:
            early_s = self.early_s * (1.0 + self.alone / len(line))
            return -NEVER if line.eager else first_s - early_s
        return first_s - self.margin_s if first_s < beside.begin_by_s else NEVER

    def choose(self, stage: Stage, rows: Collection[Row], now_s: float, costs: Costs) -> list[Row]:
        """The most pressing rows, as long as none of them makes one before it late."""
        if stage.patient:
            until_s = now_s + self.join_s
            rows = [row for row in rows if row.begin_by_s < until_s or row.hasty]
        return self._on_time(stage, within(stage.max_batch, rows), now_s, costs)

    def _on_time(self, stage: Stage, rows: list[Row], now_s: float, costs: Costs) -> list[Row]:
        """Those of ``rows`` that can share a step without making one late that would be in time.

        A row that is late already keeps no other that presses out of the step: it is better then to
        get much work done than to end a little sooner for that row.
        """
        line = costs.line(stage.name)
        filled_s = max(self.filled * line.base_s, self.least_s) if stage.patient else NEVER
        hurried_s = self.hurried * line.base_s if stage.patient else NEVER
        presses_s = now_s + self.margin_s
        chosen: list[Row] = []
        units, bound_s, late = 0.0, NEVER, False
        for row in rows:
            more = units + row.want.units
            took_s = line.base_s + line.unit_s * more
            end_s = now_s + took_s
            longest_s = hurried_s if late and row.begin_by_s > presses_s else filled_s
            if chosen and (end_s > bound_s or took_s > longest_s):
                continue
            chosen.append(row)
            units = more
            if end_s > row.finish_by_s:
                late = True
            elif row.finish_by_s < bound_s:
                bound_s = row.finish_by_s
        return chosen


def rank(context: Context, want: Want, deadline_s: float, costs: Costs) -> Row:
    """The context's step as a row among others of its stage; the deadline is the context's."""
    finish_by_s = deadline_s + want.spare_s - CROWDED * costs.path_s(want.then)
    line = costs.line(want.stage)
    own_s = CROWDED * (line.base_s + line.unit_s * want.units)
    asked = context.open
    begin_by_s = finish_by_s - own_s - PRIORITY_S * asked.priority
    return Row(begin_by_s, asked.ctx, finish_by_s, context, want, context.hasty, context.awaited)


def expect(context: Context, costs: Costs) -> None:
    """Tell the context how long a segment takes to its first audio, from what it wants at first."""
    paths_s = (
        costs.predict_s(want.stage, want.units) + costs.path_s(want.then)
        for want in context.wants.values()
    )
    context.start_s = CROWDED * max(paths_s, default=0.0)


def within(max_batch: int, rows: Iterable[Row]) -> list[Row]:
    """The most pressing rows; a share is kept for contexts that have sent nothing yet."""
    ranked = sorted(rows)
    if len(ranked) <= max_batch:
        return ranked
    kept = max_batch // FIRST_SHARE
    firsts = heapq.nsmallest(kept, (row for row in ranked if not row.context.started))
    taken = {row.ctx for row in firsts}
    others = [row for row in ranked if row.ctx not in taken]
    return sorted(firsts + others[: max_batch - len(firsts)])


class Line:
    """The rows of one stage that could be launched now."""

    def __init__(self, stage: Stage, policy: Policy) -> None:
        self.stage = stage
        self._policy = policy
        self.eager = 0
        """How many of the rows are eager."""
        self._rows: dict[int, Row] = {}
        self._first_s: float | None = NEVER

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, row: Row) -> None:
        """The context's step, in place of what was known of it."""
        if (before := self._rows.get(row.ctx)) is not None:
            self.eager -= before.eager
        self._rows[row.ctx] = row
        self.eager += row.eager
        self._first_s = None

    def drop(self, ctx: int) -> None:
        """The context has no step of this stage now."""
        if (row := self._rows.pop(ctx, None)) is not None:
            self.eager -= row.eager
            self._first_s = None

    def due_s(self, beside: UnderWay) -> float:
        """When to launch the next step, if nothing happens before."""
        if self._first_s is None:
            self._first_s = self._policy.first_s(self.stage, self._rows.values())
        if self._first_s == NEVER:
            return NEVER
        return self._policy.due_s(self, self._first_s, beside)

    def choose(self, now_s: float, costs: Costs) -> list[Row]:
        """The rows of the next step."""
        return self._policy.choose(self.stage, self._rows.values(), now_s, costs)
