"""What a step costs, learned from those that ran.

Knows: seconds a unit of work (a character of text, say), for each stage. Does not know: why.
"""

from __future__ import annotations

PRIOR_S_PER_UNIT = 0.0005
"""Before anything ran: 25 ms for a clause of 50 characters."""

WEIGHT = 0.2
"""Of the newest step in the average."""


class Costs:
    """A moving average of seconds a unit, a stage."""

    def __init__(self, prior_s_per_unit: float = PRIOR_S_PER_UNIT) -> None:
        self._prior = prior_s_per_unit
        self._s_per_unit: dict[str, float] = {}

    def learn(self, stage: str, units: float, took_s: float) -> None:
        """A step of ``stage`` over ``units`` in all took so long."""
        if units <= 0:
            return
        seen = took_s / units
        known = self._s_per_unit.get(stage, seen)
        self._s_per_unit[stage] = known + WEIGHT * (seen - known)

    def predict_s(self, stage: str, units: float) -> float:
        """How long such a step will take."""
        return self._s_per_unit.get(stage, self._prior) * units
