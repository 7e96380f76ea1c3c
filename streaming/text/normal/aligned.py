"""Text under work, of which every character knows the range of the source it stands for.

Knows: how ranges survive replacing. Does not know: what is replaced, or why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from streaming.segment import Span

Make = Callable[[re.Match[str]], str | None] | str
"""What a match is replaced by; None leaves it as it is."""


class Aligned:
    """A text and its source ranges. A replaced stretch stands for all that it replaced."""

    def __init__(self, source: str) -> None:
        self.text = source
        self._starts = list(range(len(source)))
        self._ends = list(range(1, len(source) + 1))

    def sub(self, pattern: re.Pattern[str], make: Make) -> None:
        """Replace each match; matches do not overlap and what was put in is not looked at."""
        found = list(pattern.finditer(self.text))
        made = [(m.start(), m.end(), make if isinstance(make, str) else make(m)) for m in found]
        changed = [(begin, end, new) for begin, end, new in made if new is not None]
        if changed:
            self.replace(changed)

    def replace(self, changed: Sequence[tuple[int, int, str]]) -> None:
        """Put each text in the place of ``[begin, end)``; in order, without overlap."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for begin, end, new in changed:
            parts += [self.text[done:begin], new]
            low, high = self._range(begin, end)
            starts += [*self._starts[done:begin], *[low] * len(new)]
            ends += [*self._ends[done:begin], *[high] * len(new)]
            done = end
        self.text = "".join([*parts, self.text[done:]])
        self._starts = starts + self._starts[done:]
        self._ends = ends + self._ends[done:]

    def _range(self, begin: int, end: int) -> tuple[int, int]:
        """What ``[begin, end)`` stands for; nothing of the source where it is empty."""
        if begin < end:
            return min(self._starts[begin:end]), max(self._ends[begin:end])
        here = self._ends[begin - 1] if begin else (self._starts[0] if self._starts else 0)
        return here, here

    def translate(self, table: dict[int, int | str]) -> None:
        """Put one character for another; ``table`` must not change the length."""
        new = self.text.translate(table)
        assert len(new) == len(self.text), "one character for one"
        self.text = new

    def drop(self, begin: int, end: int) -> None:
        """Take a stretch away."""
        self.replace([(begin, end, "")])

    def spans(self) -> tuple[Span, ...]:
        """Runs of the text with the range of the source that each stands for."""
        return tuple(self._runs())

    def _runs(self) -> Iterator[Span]:
        run: Span | None = None
        for span in self._stretches():
            if (
                run is not None
                and _agrees(run)
                and _agrees(span)
                and run.source_end == span.source_begin
            ):
                run = Span(run.begin, span.end, run.source_begin, span.source_end)
                continue
            if run is not None:
                yield run
            run = span
        if run is not None:
            yield run

    def _stretches(self) -> Iterator[Span]:
        """Characters next to each other that stand for one range."""
        begin = 0
        starts, ends = self._starts, self._ends
        for index in range(1, len(self.text) + 1):
            here = (starts[begin], ends[begin])
            if index == len(self.text) or (starts[index], ends[index]) != here:
                yield Span(begin, index, *here)
                begin = index

    def part(self, begin: int, end: int) -> Aligned:
        """A stretch of it, to be worked on alone."""
        piece = Aligned(self.text[begin:end])
        piece._starts, piece._ends = self._starts[begin:end], self._ends[begin:end]
        return piece

    def join(self, parts: list[Aligned]) -> None:
        """Become what these parts are together."""
        self.text = "".join(part.text for part in parts)
        self._starts = [start for part in parts for start in part._starts]  # noqa: SLF001 - of its own kind
        self._ends = [end for part in parts for end in part._ends]  # noqa: SLF001 - the same


def _agrees(span: Span) -> bool:
    """Whether text and source are of one length: character by character, or one for one."""
    return span.end - span.begin == span.source_end - span.source_begin
