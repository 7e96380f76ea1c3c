"""What a step costs, learned from those that ran.

Knows: for each stage, seconds as a line over units of work (characters of text, mel frames): a
batch's first row costs more than its last. Does not know: why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from streaming.steps import Cost, Following

KEPT = 0.95
"""What is left of the weight of older steps of a size after each new one, so that about the last
20 of them count."""

SURE = 1.0
"""After so many steps of a size, what they tell has half of its full weight."""

FORESEEN, FORESEEN_WEIGHT = 4, 0.25
"""Steps larger than any that ran are expected to cost what the prior's proportions say: for so
many doublings of the largest, each with this weight, divided by the number of sizes that ran. For
the steps of a single listener teach nothing about batches."""

LEAST_SPREAD = 0.05
"""Units that vary by less than this share of their mean cannot tell a base from a slope."""


_UNKNOWN = Cost()


class _Point(NamedTuple):
    units: float
    took_s: float
    weight: float


@dataclass
class _Size:
    """Steps of about one size: sums in which older steps weigh less."""

    weight: float = 0.0
    units: float = 0.0
    took_s: float = 0.0

    def add(self, units: float, took_s: float) -> None:
        self.weight = KEPT * self.weight + 1.0
        self.units = KEPT * self.units + units
        self.took_s = KEPT * self.took_s + took_s

    @property
    def point(self) -> _Point:
        """What they cost on average."""
        weight = self.weight
        return _Point(self.units / weight, self.took_s / weight, weight / (weight + SURE))


class _Seen:
    """A stage's steps by size, an octave each.

    What was learned of large batches is not forgotten while small ones run, and the size that comes
    most often does not decide alone.
    """

    def __init__(self, prior: Cost) -> None:
        self._prior = prior
        self._sizes: dict[int, _Size] = {}
        self._points: dict[int, _Point] = {}

    def add(self, units: float, took_s: float) -> None:
        """One more step has run."""
        octave = math.frexp(units)[1]
        size = self._sizes.setdefault(octave, _Size())
        size.add(units, took_s)
        self._points[octave] = size.point

    def line(self) -> Cost:
        """The best line, by relative errors, without a negative base or slope.

        Where steps do not tell a base from a slope: the prior, scaled to what they took.
        """
        seen = self._points.values()
        scaled = _scaled(self._prior, seen)
        points = [*seen, *self._foreseen(scaled)]
        found = _fitted(points)
        return found if found is not None else scaled

    def _foreseen(self, scaled: Cost) -> Iterator[_Point]:
        if not (self._prior.base_s and self._prior.unit_s):
            return  # a prior without both tells no proportion
        weight = FORESEEN_WEIGHT / len(self._sizes)
        largest = max(self._sizes)
        for octave in range(largest + 1, largest + 1 + FORESEEN):
            units = 0.75 * 2.0**octave
            yield _Point(units, scaled.of(units), weight)


def _scaled(prior: Cost, points: Iterable[_Point]) -> Cost:
    """The prior's proportion of base and slope, scaled to how long the steps took."""
    expected_s = took_s = units = 0.0
    for units_of, took_of_s, weight in points:
        expected_s += weight * (prior.base_s + prior.unit_s * units_of)
        took_s += weight * took_of_s
        units += weight * units_of
    if expected_s <= 0.0:
        return Cost(0.0, took_s / units)
    scale = took_s / expected_s
    return Cost(prior.base_s * scale, prior.unit_s * scale)


def _fitted(points: Iterable[_Point]) -> Cost | None:
    """The line of least squares of relative errors; ``None`` where the points do not tell."""
    weights = units = took_s = units_squared = units_took_s = 0.0
    for units_of, took_of_s, believed in points:
        weight = believed / max(took_of_s, 1e-9) ** 2
        weights += weight
        units += weight * units_of
        took_s += weight * took_of_s
        units_squared += weight * units_of**2
        units_took_s += weight * units_of * took_of_s
    spread = weights * units_squared - units**2
    if spread <= (LEAST_SPREAD * units) ** 2:
        return None
    unit_s = (weights * units_took_s - units * took_s) / spread
    base_s = (took_s - unit_s * units) / weights
    if base_s < 0.0:
        return None
    return Cost(base_s, unit_s) if unit_s > 0.0 else Cost(took_s / weights, 0.0)


class Costs:
    """A line a stage, over the steps that ran lately."""

    def __init__(self, priors: Mapping[str, Cost] | None = None) -> None:
        """``priors``: what a stage costs before any step of it ran."""
        self._lines = dict(priors or {})
        self._seen: dict[str, _Seen] = {}

    def learn(self, stage: str, units: float, took_s: float) -> None:
        """A step of ``stage`` over ``units`` in all took so long."""
        if units <= 0:
            return
        seen = self._seen.get(stage)
        if seen is None:
            seen = self._seen[stage] = _Seen(self.line(stage))
        seen.add(units, took_s)
        self._lines[stage] = seen.line()

    def line(self, stage: str) -> Cost:
        """What a step of the stage costs."""
        return self._lines.get(stage, _UNKNOWN)

    def predict_s(self, stage: str, units: float) -> float:
        """How long such a step will take."""
        return self.line(stage).of(units)

    def path_s(self, steps: Iterable[Following]) -> float:
        """How long those will take, one after another."""
        total_s = 0.0
        for each in steps:  # asked for each row of each step
            line = self._lines.get(each.stage, _UNKNOWN)
            total_s += each.times * (line.base_s + line.unit_s * each.units)
        return total_s
