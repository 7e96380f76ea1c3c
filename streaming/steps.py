"""What a step is, to those who plan one: its stage, how much work it is, what it costs.

Plain data between runners, which say what could be done, and the scheduler, which chooses. Does not
know: what a step does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True)
class Cost:
    """Seconds of a step: ``base_s + unit_s * units + look_s * looks``.

    ``units`` are its work, ``looks`` the earlier positions that all of them attend to.
    """

    base_s: float = 0.0
    unit_s: float = 0.0005
    """The default is a guess for runners that do not say: 25 ms for a clause of 50 characters."""
    look_s: float = 0.0
    """For each earlier position that a unit attends to: a long past makes a step longer."""

    def of(self, units: float, looks: float = 0.0) -> float:
        """Seconds for so many units, which attend to ``looks`` positions in all."""
        return self.base_s + self.unit_s * units + self.look_s * looks

    def usual(self, looks: float) -> Cost:
        """The same as a line over units alone, where each unit attends to ``looks`` positions.

        Only such lines are learned from steps (``Costs``).
        """
        return Cost(self.base_s, self.unit_s + self.look_s * looks)

    def __str__(self) -> str:
        """For people."""
        return f"{1000 * self.base_s:.3g} ms + {1000 * self.unit_s:.3g} ms a unit"


@dataclass(frozen=True)
class Stage:
    """One kind of step: a network's, say."""

    name: str
    max_batch: int = 1
    """Rows that a step can take."""
    in_flight: int = 1
    """Batches that may be under way at once; with 2, a device has its next when one has ended."""
    ahead: int = 1
    """Steps of one context that may be under way at once. More than 1 where a step finds on the
    device what the step before it made, so that the host need not have read that."""
    prior: Cost = field(default_factory=Cost)
    """What a step costs before any has run."""
    patient: bool = False
    """Its steps wait for more rows while nobody needs them soon: one row more costs little, so a
    step of few is a waste."""
    urgent: bool = False
    """Its steps go before those of other stages where they share a device."""


@dataclass(frozen=True)
class Following:
    """So many steps of a stage, of so many units each."""

    stage: str
    units: float = 1.0
    times: float = 1


class Want(NamedTuple):
    """A step that could be launched for a context now."""

    stage: str
    units: float = 1.0
    """How much work it is, in units that cost about the same each."""
    then: tuple[Following, ...] = ()
    """What must follow before a listener hears of it."""
    spare_s: float = 0.0
    """How much later than the context's next audio it is needed."""
