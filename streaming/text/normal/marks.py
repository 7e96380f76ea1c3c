"""Marks that a voice obeys within a text: hidden from all rules, and whole in every segment.

``[laughter]`` and ``[breath]`` are sounds; ``<strong>`` begins a stretch that ``</strong>`` ends.
Where a segment ends within such a stretch, the stretch ends with it and begins again with the next.
Knows: the marks it was given. Does not know: which voice takes which.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from streaming.segment import LexiconEntry
from streaming.text.normal.aligned import Aligned
from streaming.text.normal.lexicon import Kept


class Marks:
    """The marks of one context's voice, and the stretches that are open between segments."""

    def __init__(self, marks: Sequence[str]) -> None:
        longest_first = sorted(marks, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if marks else None
        self._open: list[str] = []

    def hide(self, aligned: Aligned, kept: Kept) -> None:
        """Put a placeholder for every mark, and those in that the segment's borders need."""
        if self._pattern is None:
            return
        begins = "".join(self._open)
        changed = [(0, 0, _hidden(begins, kept))] if begins else []
        changed += [
            (found.start(), found.end(), _hidden(found.group(), kept))
            for found in self._pattern.finditer(aligned.text)
            if self._heed(found.group())
        ]
        if self._open:
            ends = "".join(mark.replace("<", "</") for mark in reversed(self._open))
            changed.append((len(aligned.text), len(aligned.text), _hidden(ends, kept)))
        aligned.replace(changed)

    def _heed(self, mark: str) -> bool:
        """Whether it stands: an end needs its beginning before it."""
        if mark.startswith("</"):
            begin = mark.replace("</", "<")
            if begin not in self._open:
                return False
            self._open.remove(begin)
        elif mark.startswith("<"):
            if mark in self._open:
                return False
            self._open.append(mark)
        return True


def _hidden(mark: str, kept: Kept) -> str:
    return kept.hide(LexiconEntry(text=mark, say=mark)) or ""
