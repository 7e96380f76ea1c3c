"""What a mark in the text can be found to be.

Knows: ranks and endings. Does not know: how they are found (``boundaries.py``, ``stops.py``).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from streaming.segment import Ending


class Rank(IntEnum):
    """How good a place to stop this is."""

    NONE = 0
    WEAK = 1
    CLAUSE = 2
    STOP = 3


class Verdict(NamedTuple):
    """The unit ends before ``end`` (where ``rank`` is not NONE); look on from ``resume``."""

    end: int
    resume: int
    rank: Rank
    ending: Ending = "clause"
    doubtful: bool = False
    """A stop that the text's end made one: after ``$4.`` more digits might have come."""


def ranked(end: int, rank: Rank) -> Verdict:
    """A place inside a sentence, or none at all."""
    return Verdict(end, end, rank)
