"""Other ways to choose a step's rows, to compare with: each the rule of a field, not of ours.

They batch as their systems do: whenever a stage is free it takes every row that is ready, in their
order. All else is the same for all: hops, parking, the door. Knows: rows. Does not know: costs,
which none of these asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, replace

from streaming.config import EngineSettings
from streaming.context import Context
from streaming.costs import Costs
from streaming.engine.loop import deadlines
from streaming.samples import SAMPLE_RATE
from streaming.scheduler import NEVER, Deadlines, Line, Policy, Row, UnderWay
from streaming.steps import Stage

VOXSERVE_MARGIN_S = 1.0


class EarliestArrival:
    """Whoever asked first."""

    def first_s(self, stage: Stage, rows: Collection[Row]) -> float:
        """At once."""
        del stage
        return -NEVER if rows else NEVER

    def due_s(self, line: Line, first_s: float, beside: UnderWay) -> float:
        """Whatever else is under way."""
        del line, beside
        return first_s

    def choose(self, stage: Stage, rows: Collection[Row], now_s: float, costs: Costs) -> list[Row]:
        """In the order of their keys."""
        del costs
        keyed = sorted((self.key(row, now_s), row.ctx, row) for row in rows)
        return [row._replace(begin_by_s=key) for key, _, row in keyed[: stage.max_batch]]

    def key(self, row: Row, now_s: float) -> float:
        """The lowest goes first."""
        del now_s
        return arrived_s(row.context)


class Fifo(EarliestArrival):
    """Whoever has waited longest for a step of the stage."""

    def __init__(self) -> None:
        self._served_s: dict[int, float] = {}

    def choose(self, stage: Stage, rows: Collection[Row], now_s: float, costs: Costs) -> list[Row]:
        """Those served longest ago, by this stage or another."""
        chosen = super().choose(stage, rows, now_s, costs)
        self._served_s.update((row.ctx, now_s) for row in chosen)
        return chosen

    def key(self, row: Row, now_s: float) -> float:
        """When it was served last."""
        return self._served_s.get(row.ctx, super().key(row, now_s))


class VoxServe(EarliestArrival):
    """Those that press first: that have sent nothing, or whose latest chunk is played in a second.

    One prefill at most a step; flow and vocoder run only where one of theirs presses.
    """

    def __init__(self) -> None:
        self._chunks: dict[int, tuple[int, int]] = {}
        """Of each context, samples that were made, and how many of them came last."""

    def first_s(self, stage: Stage, rows: Collection[Row]) -> float:
        """When one presses."""
        if stage.name == "llm":
            return super().first_s(stage, rows)
        return min((self._presses_s(row.context) for row in rows), default=NEVER)

    def choose(self, stage: Stage, rows: Collection[Row], now_s: float, costs: Costs) -> list[Row]:
        """One prefill, those that press, then the others."""
        prefills = [row for row in rows if row.want.units > 1]
        if stage.name == "llm" and prefills:
            first = min(prefills, key=lambda row: (arrived_s(row.context), row.ctx))
            rows = [first, *(row for row in rows if row.want.units == 1)]
        return super().choose(stage, rows, now_s, costs)

    def key(self, row: Row, now_s: float) -> float:
        """Pressing ones before all others."""
        presses = self._presses_s(row.context) <= now_s
        return super().key(row, now_s) - (1e6 if presses else 0.0)

    def _presses_s(self, context: Context) -> float:
        if not context.started:
            return -NEVER
        made, latest = self._chunks.get(context.open.ctx, (0, 0))
        if context.produced_samples > made:
            made, latest = context.produced_samples, context.produced_samples - made
            self._chunks[context.open.ctx] = made, latest
        return context.dry_s(0.0) - latest / SAMPLE_RATE - VOXSERVE_MARGIN_S


class Unyielding(Deadlines):
    """What presses goes beside what presses more, as it does beside what presses less."""

    def due_s(self, line: Line, first_s: float, beside: UnderWay) -> float:
        """A little before it must begin."""
        return min(first_s - self.margin_s, super().due_s(line, first_s, beside))


def ours() -> Deadlines:
    """As the engine has it."""
    return deadlines(EngineSettings().max_ahead_s)


POLICIES: dict[str, Callable[[], Policy]] = {
    "deadline": ours,
    "fifo": Fifo,
    "earliest-arrival": EarliestArrival,
    "voxserve": VoxServe,
}
"""Each makes a policy with a memory of its own."""

CHOICES: dict[str, Callable[[], Policy]] = {
    "no-patience": lambda: replace(ours(), patient=False),
    "no-early-steps": lambda: replace(ours(), early_s=0.0),
    "early-alike": lambda: replace(ours(), alone=0.0),
    "all-join": lambda: replace(ours(), join_s=NEVER),
    "long-steps": lambda: replace(ours(), filled=NEVER, hurried=NEVER),
    "no-hurry": lambda: replace(ours(), hurried=ours().filled),
    "no-yielding": lambda: Unyielding(**asdict(ours())),
}
"""Ours, each without one of its choices."""


def arrived_s(context: Context) -> float:
    """When the text came that is to be spoken next."""
    head = context.head
    assert head is not None, "only a context with work is asked"
    return head.arrived_s
