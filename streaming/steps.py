"""What a step is, to those who plan one: its stage, how much work it is, what it costs.

Plain data between runners, which say what could be done, and the scheduler, which chooses. Does not
know: what a step does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True)
class Cost:
    """Seconds of a step: ``base_s + unit_s * units + look_s * looks``."""

    base_s: float = 0.0
    unit_s: float = 0.0005
    """25 ms for a clause of 50 characters."""
    look_s: float = 0.0
    """For each place before it that a unit looks at: what was said costs attention."""

    def of(self, units: float, looks: float = 0.0) -> float:
        """Seconds for so many units, which look at so many places in all."""
        return self.base_s + self.unit_s * units + self.look_s * looks

    def usual(self, looks: float) -> Cost:
        """The same where each unit looks at so many: a line over units, as is learned of steps."""
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
    """Batches that may be launched and not yet taken; 2 keep a device busy."""
    ahead: int = 1
    """Steps of one context that may be under way at once: where a step finds on the device what
    the one before it made, the host need not have read that."""
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
