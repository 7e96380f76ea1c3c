"""What a step costs, learned from those that ran.

Knows: for each stage, seconds as a line over units of work (characters of text, mel frames): a
batch's first row costs more than its last. Does not know: why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streaming.steps import Cost, Following

KEPT = 0.98
"""Of what older steps weigh, after each new one: a step counts for about the next 20."""

LEAST_SPREAD = 0.05
"""Units that vary by less than this share of their mean cannot tell a base from a slope."""


_UNKNOWN = Cost()


@dataclass
class _Seen:
    """Weighted sums over the steps of a stage: enough for a line of least squares."""

    weight: float = 0.0
    units: float = 0.0
    took_s: float = 0.0
    units_squared: float = 0.0
    units_took_s: float = 0.0

    def add(self, units: float, took_s: float) -> None:
        self.weight = KEPT * self.weight + 1.0
        self.units = KEPT * self.units + units
        self.took_s = KEPT * self.took_s + took_s
        self.units_squared = KEPT * self.units_squared + units * units
        self.units_took_s = KEPT * self.units_took_s + units * took_s

    def line(self, known: Cost) -> Cost:
        """The best line without a negative base or slope; where steps do not tell, as ``known``."""
        spread = self.weight * self.units_squared - self.units**2
        if spread <= (LEAST_SPREAD * self.units) ** 2:
            return self._scaled(known)
        unit_s = (self.weight * self.units_took_s - self.units * self.took_s) / spread
        base_s = (self.took_s - unit_s * self.units) / self.weight
        if base_s < 0.0:
            return self._scaled(known)
        return Cost(base_s, unit_s) if unit_s > 0.0 else Cost(self.took_s / self.weight, 0.0)

    def _scaled(self, known: Cost) -> Cost:
        """The same proportion of base and slope, as high as the steps were long."""
        expected_s = self.weight * known.base_s + self.units * known.unit_s
        if expected_s <= 0.0:
            return Cost(0.0, self.took_s / self.units)
        scale = self.took_s / expected_s
        return Cost(known.base_s * scale, known.unit_s * scale)


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
        seen = self._seen.setdefault(stage, _Seen())
        seen.add(units, took_s)
        self._lines[stage] = seen.line(self._lines.get(stage, _UNKNOWN))

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
