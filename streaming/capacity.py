"""How many contexts a machine can keep speaking in real time: pure, from what steps cost.

A runner says which steps a second of speech takes for so many contexts at once; their costs are
learned. Capacity is the greatest number for which a second's steps take less than a second, with
some of it left for first packets and for what nobody foresaw. Where listeners are kept waiting all
the same, what costs say was wrong, and what was seen counts. Knows: costs, how many were late. Does
not know: memory (``admission``), who speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from streaming.costs import Costs
from streaming.steps import Following

FULL = 0.95
"""The share of the time that speech in progress may take."""

Second = Callable[[int], Iterable[Following]]
"""The steps that it takes to make a second of speech for each of so many contexts."""


def use(second: Second, costs: Costs, contexts: int) -> float:
    """The share of the machine's time that so many contexts take, all speaking; 1: all of it."""
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


BUSY = 0.7
"""A machine that computes for more than this share of the time has none to spare."""

USE_S, OVER_S = 2.0, 3.0
"""The share of the time that is computed is averaged over about the first, what costs say over
about the second: a few short steps tell little."""

LEARNED_S = 1.0
"""Until steps have run for so long in all, costs are guesses and only the newest reading counts."""

FORGETS, FORGETS_BUSY = 0.003, 0.3
"""The number of listeners that was seen to go well loses this share each second, since the
machine may have become slower: little, and much while the machine has no time to spare."""

TRIES = 1.02
"""How far beyond the number that goes well the next is tried: this many times it, and one more."""


class Known:
    """What each lane can serve: what costs say, or what is seen to go well, where that is more.

    Costs may say too little: a step is also slow because other programs run beside it, in time
    that would have been spare anyway. A number of listeners goes well where none of them is late
    and the machine has time to spare. The first alone would not do: a listener who has audio in
    store is late only when that is used up.
    """

    def __init__(self) -> None:
        self._costs: dict[str, float] = {}
        self._well: dict[str, float] = {}
        self._at_s = 0.0
        self._busy_s = 0.0
        self._use = 1.0

    def take(
        self, readings: Mapping[str, int], well: Mapping[str, int], busy_s: float, now_s: float
    ) -> dict[str, int]:
        """What counts now.

        ``well``: how many listeners each lane serves with none of them late; ``busy_s``: how long
        steps have taken in all since the beginning.
        """
        past_s = now_s - self._at_s
        if past_s > 0.0:
            newest = min(1.0, past_s / USE_S)
            self._use += newest * ((busy_s - self._busy_s) / past_s - self._use)
        guessed = self._busy_s < LEARNED_S
        self._at_s, self._busy_s = now_s, busy_s
        for lane, reading in readings.items():
            self._smooth(lane, float(reading), 1.0 if guessed else past_s / OVER_S)
            self._see(lane, well.get(lane, 0), past_s)
        return {lane: self._most(lane) for lane in readings}

    def _smooth(self, lane: str, reading: float, share: float) -> None:
        before = self._costs.get(lane, reading)
        self._costs[lane] = before + min(1.0, share) * (reading - before)

    def _see(self, lane: str, well: int, past_s: float) -> None:
        busy = self._use > BUSY
        forgets = FORGETS_BUSY if busy else FORGETS
        seen = self._well.get(lane, 0.0) * max(0.0, 1 - forgets * past_s)
        if not busy and well > seen:
            seen += min(1.0, past_s / OVER_S) * (well - seen)
        self._well[lane] = seen

    def _most(self, lane: str) -> int:
        seen = self._well[lane]
        return max(1, round(self._costs[lane]), int(seen * TRIES) + 1 if seen > 1 else 0)


LASTS_S = 0.5
"""Only where listeners are late for at least so long were there too many of them."""

GIVES_WAY = 0.5
"""The bound falls below the number of listeners by this share of those who were late."""

SAFE = 0.9
"""This share of the number that was too many is believed to go well."""

UP_TO_SAFE, BEYOND = 0.1, 0.01
"""The bound rises by these shares of itself a second: up to what is safe, and from there on."""

UNBOUNDED = 1 << 30


@dataclass
class _Seen:
    """What is known of a lane that kept listeners waiting."""

    most: float = UNBOUNDED
    """The bound as it stands."""
    too_many: float = UNBOUNDED
    """The number of listeners that was seen to be too many."""
    late_since_s: float | None = None
    at_s: float = 0.0
    """When this was looked at last."""


class Caution:
    """How many a lane may serve after it kept listeners waiting; unbounded before that."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def most(self, lane: str) -> int:
        """The bound of the lane, in listeners."""
        return round(self._seen.get(lane, _Seen()).most)

    def take(self, lane: str, late: int, listeners: int, known: int, now_s: float) -> None:
        """``late`` of the lane's ``listeners`` were kept waiting.

        ``known``: how many the lane can serve by what costs say; a bound that has risen so far is
        forgotten.
        """
        seen = self._seen.setdefault(lane, _Seen(at_s=now_s))
        past_s, seen.at_s = now_s - seen.at_s, now_s
        if not late:
            seen.late_since_s = None
            self._rise(seen, known, past_s)
        elif seen.late_since_s is None:
            seen.late_since_s = now_s
        elif now_s - seen.late_since_s >= LASTS_S:
            seen.too_many = min(seen.too_many, listeners)
            seen.most = max(1.0, min(seen.most, listeners - GIVES_WAY * late))

    def _rise(self, seen: _Seen, known: int, past_s: float) -> None:
        if seen.most >= known:
            seen.most = seen.too_many = UNBOUNDED
            return
        share = UP_TO_SAFE if seen.most < SAFE * seen.too_many else BEYOND
        seen.most += max(1.0, seen.most) * share * past_s
        seen.too_many = max(seen.too_many, seen.most)
