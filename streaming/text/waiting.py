"""How long text waits for more to come, and where it is cut once it may wait no longer.

Knows: what the pending text looks like at its end. Does not know: clocks, when text came.
"""

from __future__ import annotations

from streaming.text.breaks import Break, breaks_between_words, last_blank
from streaming.text.marks import NEWLINES, WIDE_STOPS
from streaming.text.pending import Pending
from streaming.text.verdict import Rank, Verdict

LINE_RELEASE_MS = 50
"""The longest wait at the end of a line: the sentence is over, and all that more text can tell is
whether a blank line, and so a longer pause, follows."""

CERTAIN_PARTS = 3
"""What ends in 。 is a sentence whatever follows: it waits for a third of the idle time."""

DOUBT_FACTOR = 3
"""A stop that may be part of something (``$4.``, ``p.m.``) waits for three times the idle time."""


def idle_wait_s(pending: Pending, verdict: Verdict, idle_s: float) -> float:
    """How long the sentence that the text seems to end with waits for a sign that it goes on."""
    if pending.text[verdict.end : verdict.end + 1] in set(NEWLINES):
        return min(LINE_RELEASE_MS / 1000, idle_s)
    if _certain(pending, verdict):
        return idle_s / CERTAIN_PARTS
    return idle_s * (DOUBT_FACTOR if verdict.doubtful else 1)


def _certain(pending: Pending, verdict: Verdict) -> bool:
    """Whether only a closing quote or an emoji may still belong to the sentence."""
    return any(char in WIDE_STOPS for char in pending.text[pending.scan : verdict.end])


def overdue_break(pending: Pending, overdue: int) -> Break | None:
    """Where to cut when the text before ``overdue`` may wait no longer; None: let go of all of it.

    The best place at or after ``overdue``; where there is none, the last blank before it.
    """
    if overdue >= len(pending):
        return None
    begin = pending.begin or 0
    ends = [place.end for place in pending.places if place.rank is Rank.CLAUSE]
    blank = last_blank(pending.text, begin, len(pending))
    if ends and ends[-1] >= overdue:
        return Break(ends[-1], "clause")
    if blank is not None and blank >= overdue:
        return Break(blank, "forced")
    for index in range(len(pending) - 1, max(overdue, begin) - 1, -1):
        if index > pending.word and breaks_between_words(pending.text, index):
            return Break(index, "forced")
    return Break(blank, "forced") if blank else None
