"""Contexts through the stages side by side: a step of each in turn, for all that want one.

No deadlines, no loop: to warm up, and to compare what one makes, and costs, alone and among others.
Knows: the calls of a runner. Does not know: networks, the engine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from streaming.costs import Costs
from streaming.runners.base import Later, StepResult, Work
from streaming.steps import Stage, Want


class Speaker(Protocol):
    """The part of a runner that speaks."""

    def begin(self, work: Work) -> Any:
        """The state of a segment of which nothing is made."""
        ...

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """The steps that could be launched for that row now."""
        ...

    def step(self, stage: str, batch: Sequence[Work]) -> Sequence[StepResult] | Later:
        """One step for each row."""
        ...

    def release(self, state: Any) -> None:
        """What its state holds is free again."""


@dataclass(frozen=True)
class Step:
    """One that ran."""

    stage: str
    works: tuple[Work, ...]
    units: tuple[float, ...]
    results: Sequence[StepResult]
    took_s: float


def side_by_side(
    speaker: Speaker,
    stages: Sequence[Stage],
    works: list[Work],
    now: Callable[[], float] = time.perf_counter,
) -> Iterator[Step]:
    """The steps of all, as they run, until nobody wants any.

    Whoever is done, or is to go no further, must be taken out of ``works`` before the next. Hops
    are as ``slack_s`` lets them be; at 0, as small as they can.
    """
    costs = Costs({stage.name: stage.prior for stage in stages})
    went_on = True
    while went_on:
        went_on = False
        for stage in stages:
            rows = [
                (work, want.units)
                for work in works
                for want in speaker.wants(work, costs)
                if want.stage == stage.name
            ]
            for begin in range(0, len(rows), stage.max_batch):
                went_on = True
                batch = rows[begin : begin + stage.max_batch]
                yield _ran(speaker, stage.name, batch, now)


def _ran(
    speaker: Speaker,
    stage: str,
    rows: Sequence[tuple[Work, float]],
    now: Callable[[], float],
) -> Step:
    works, units = zip(*rows, strict=True)
    began_s = now()
    results = speaker.step(stage, works)
    if isinstance(results, Later):
        results = results.land(results.made.result())
    return Step(stage, works, units, results, now() - began_s)
