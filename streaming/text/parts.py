"""Text for a model that takes it in mid-sentence: units become parts of long segments.

A segment runs to the next flush or to the end, through as many sentences as come, so that nothing
is heard of where one ends. One that has become long ends with a sentence all the same.
Knows: when a segment is complete, how its parts' texts join. Does not know: how units are cut and
made into words (``pipeline.py``), what a model does with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from streaming.growing import moved_by
from streaming.segment import Ending, Segment
from streaming.text.marks import CLAUSES, STOPS, width
from streaming.text.pipeline import TextPipeline

ENOUGH, MOST = 1.5, 2.0
"""Of what a segment of one sentence may have: from there on one ends with the next sentence, and
with whatever comes next. Twice 200 letters are 25 s; models are trained on speech of half a minute.
"""

_CLOSED = re.compile(rf"[{re.escape(STOPS + CLAUSES)}][^\w\s]*$")


class Parts:
    """As a ``TextPipeline``, whose segments are the parts of longer ones."""

    def __init__(
        self, units: TextPipeline, max_segment_chars: int, max_delay_ms: int | None = None
    ) -> None:
        """``max_delay_ms``: where no text comes for so long, that completes the segment."""
        self._units = units
        self._max_delay_s = None if max_delay_ms is None else max_delay_ms / 1000
        self._last_s = 0.0
        self._enough = max_segment_chars * ENOUGH
        self._most = max_segment_chars * MOST
        self._last: Segment | None = None
        """The newest part of the segment that grows."""
        self._width = 0
        self._count = 0

    @property
    def count(self) -> int:
        """How many segments have been completed."""
        return self._count

    def append(self, delta: str, now_s: float) -> list[Segment]:
        """More text, of any length."""
        self._last_s = now_s
        return self._grow(self._units.append(delta, now_s))

    def flush(self, now_s: float) -> list[Segment]:
        """Let go of all that has words, which completes the segment."""
        return self._complete(self._units.flush(now_s))

    def end(self, now_s: float) -> list[Segment]:
        """The text is complete."""
        return self._complete(self._units.end(now_s), "end")

    def due_s(self) -> float | None:
        """When ``tick`` is to be called, if nothing else comes before."""
        due = [
            moment for moment in (self._units.due_s(), self._pause_due_s()) if moment is not None
        ]
        return min(due, default=None)

    def tick(self, now_s: float) -> list[Segment]:
        """Let go of what has waited long enough."""
        parts = self._grow(self._units.tick(now_s))
        if (due_s := self._pause_due_s()) is not None and due_s <= now_s:
            parts += self.flush(now_s)
        return parts

    def _pause_due_s(self) -> float | None:
        """When the segment is complete, if no text comes."""
        if self._last is None or self._max_delay_s is None:
            return None
        return self._last_s + self._max_delay_s

    def _grow(self, units: Sequence[Segment]) -> list[Segment]:
        return [self._part(unit) for unit in units]

    def _complete(self, units: Sequence[Segment], ending: Ending | None = None) -> list[Segment]:
        """An empty part is the last: what was let go before could not know that it was."""
        parts = self._grow(units)
        if (last := self._last) is not None:
            nothing = msgspec.structs.replace(
                last, text="", source="", char_start=last.char_end, spans=(), pronunciations=(),
                ending=ending or last.ending, more=False,
            )  # fmt: skip
            parts.append(nothing)
            self._begin_next()
        return parts

    def _part(self, unit: Segment) -> Segment:
        part = self._glued(unit) if self._last is not None else unit
        self._width += width(part.text)
        ends = unit.ending in {"sentence", "paragraph"}
        full = self._width >= (self._enough if ends else self._most)
        part = msgspec.structs.replace(part, index=self._count, more=not full)
        self._last = part
        if full:
            self._begin_next()
        return part

    def _begin_next(self) -> None:
        self._count += 1
        self._last = None
        self._width = 0

    def _glued(self, unit: Segment) -> Segment:
        """With what stands between it and the part before: a blank, and a stop where none is."""
        assert self._last is not None, "the first part of a segment follows nothing"
        before = self._last
        wide, wide_after = (width(char) > 1 for char in (before.text[-1], unit.text[0]))
        apart = not (wide or wide_after or before.ending == "forced")
        apart = apart or (unit.source[0].isspace() and not (wide and wide_after))
        glue = " " if apart else ""
        if before.ending in {"sentence", "paragraph"} and not _CLOSED.search(before.text):
            glue = ("。" if wide else ".") + glue
        moved = moved_by(unit, len(glue), 0)
        return msgspec.structs.replace(moved, text=glue + unit.text)
