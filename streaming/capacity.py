"""How many contexts a machine can keep speaking in real time: pure, from what steps cost.

A runner says which steps a second of speech takes for so many contexts at once; their costs are
learned. Capacity is the greatest number for which a second's steps take less than a second, with
some of it left for first packets and for what nobody foresaw. Knows: costs. Does not know: memory
(``admission``), who speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from streaming.costs import Costs
from streaming.steps import Following

FULL = 0.95
"""The share of the time that speech in progress may take."""

Second = Callable[[int], Iterable[Following]]
"""The steps that a second of speech takes for so many contexts."""


def use(second: Second, costs: Costs, contexts: int) -> float:
    """The share of the time that so many contexts take, all speaking; 1: all of it."""
    return costs.path_s(second(contexts)) if contexts else 0.0


def capacity(second: Second, costs: Costs, most: int) -> int:
    """How many contexts can speak at once, from 1 to ``most``."""
    if use(second, costs, most) <= FULL:
        return most
    fits, over = 1, most
    while over - fits > 1:
        middle = (fits + over) // 2
        if use(second, costs, middle) <= FULL:
            fits = middle
        else:
            over = middle
    return fits


FALL = 0.001
"""What is known of a lane falls by at most this share a reading, of which there are one to ten a
second: one slow second is no verdict."""


class Steady:
    """Readings of each lane's capacity: believed at once as they rise, slowly as they fall."""

    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def take(self, lane: str, reading: int) -> int:
        """The capacity that counts after this reading."""
        before = self._known.get(lane, float(reading))
        self._known[lane] = max(float(reading), before * (1 - FALL))
        return max(1, round(self._known[lane]))
