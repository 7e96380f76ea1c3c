"""The text of a context that has not been let go, and how far it has been looked at.

Positions here are in the buffer; ``base`` is where the buffer begins in the context. Of the pending
text, ``start`` is the first character, ``begin`` the first that will be spoken (white space and
stray marks before it are carried along), ``word`` the first letter or digit of that, and ``scan``
where looking goes on.

Knows: the buffer, widths, quotes. Does not know: what a boundary is, when to let go.
"""

from __future__ import annotations

from typing import NamedTuple

from streaming.text.breaks import Place
from streaming.text.marks import CANDIDATE, NEWLINES, width
from streaming.text.speakable import WORD_START, has_words, lead

LOOK_BACK = 300
"""More than any judgement looks back; text without words before that is laid aside."""


class Piece(NamedTuple):
    """Text taken away: all of it, the part to be spoken, and its place in the context."""

    source: str
    spoken: str
    char_start: int
    char_end: int


class Pending:
    """Text that waits. Each character is looked at a bounded number of times."""

    def __init__(self) -> None:
        self.text = ""
        self.base = 0
        self.start = 0
        self.begin: int | None = None
        self.word = 0
        self.scan = 0
        self.places: list[Place] = []
        self._shelf: list[str] = []
        self._width = 0
        self._quoted_at_start = False
        self._quoted = False
        self._quotes_to = 0

    def __len__(self) -> int:
        return len(self.text)

    def append(self, delta: str) -> None:
        """More text at the end."""
        self.text += delta

    def rest(self) -> str:
        """All that is pending."""
        return "".join(self._shelf) + self.text[self.start :]

    def next_mark(self, limit: int) -> tuple[int, bool]:
        """Where a unit may end next, or else as far as it is worth looking; and which of both."""
        reach = min(len(self.text), self.scan + limit + 1)
        found = CANDIDATE.search(self.text, self.scan, reach + 1)
        return (found.start(), True) if found else (reach, False)

    def advance(self, to: int, limit: int) -> int | None:
        """Look on as far as ``to``; where the width passes ``limit`` on the way, that place."""
        if self.begin is None and not self._find_begin(to):
            self.scan = to
            return None
        stretch = self.text[self.scan : min(to, self.scan + limit + 1)]
        wide = width(stretch)
        if self._width + wide <= limit:
            self._width += wide
            self.scan = to
            return None
        for char in stretch:
            self._width += width(char)
            if self._width > limit:
                break
            self.scan += 1
        return self.scan

    def _find_begin(self, to: int) -> bool:
        found = WORD_START.search(self.text, self.scan, to)
        if not found:
            return False
        begin = lead(self.text, found.start(), self.start)
        self._width = width(self.text[begin : found.start()])
        self.begin, self.word, self.scan = begin, found.start(), found.start()
        return True

    def width_to(self, end: int) -> int:
        """How wide the text to be spoken is, up to there."""
        return 0 if self.begin is None else width(self.text[self.begin : end].rstrip())

    def speakable(self, end: int) -> bool:
        """Whether a word stands before ``end``."""
        return self.begin is not None and has_words(self.text[self.begin : end])

    def quoted_at(self, mark: int) -> bool:
        """Whether a straight double quote is open there."""
        if mark < self._quotes_to:
            self._quotes_to, self._quoted = self.start, self._quoted_at_start
        self._quoted ^= bool(self.text.count('"', self._quotes_to, mark) % 2)
        self._quotes_to = mark
        return self._quoted

    def skip(self, to: int) -> None:
        """What was looked at holds no word: it is carried along in front of what comes."""
        self.begin, self.scan = None, to
        self.places.clear()

    def cut(self, end: int) -> Piece:
        """Take what is before ``end`` away; what is behind will be looked at anew."""
        begin = self.start if self.begin is None else self.begin
        source = "".join([*self._shelf, self.text[self.start : end]])
        char_end = self.base + end
        piece = Piece(source, self.text[begin:end], char_end - len(source), char_end)
        self._shelf.clear()
        ends_line = self.text[end : end + 1] in set(NEWLINES)
        self._quoted_at_start = not ends_line and self.quoted_at(end)
        self._quoted, self._quotes_to = self._quoted_at_start, end
        self.start = end
        self.skip(end)
        return piece

    def trim(self) -> None:
        """Keep no more in the buffer than what can still be looked at."""
        self._lay_aside()
        gone = self.start
        if not gone:
            return
        self.text = self.text[gone:]
        self.base += gone
        self.start = 0
        self.scan -= gone
        self.word -= gone
        self._quotes_to -= gone
        self.begin = None if self.begin is None else self.begin - gone
        self.places = [Place(place.end - gone, place.rank) for place in self.places]

    def _lay_aside(self) -> None:
        """Text without words may grow long, and each delta would copy all of it."""
        kept_from = self.scan - LOOK_BACK
        if self.begin is not None or kept_from - self.start < LOOK_BACK:
            return
        self._quoted_at_start = self.quoted_at(kept_from)
        self._shelf.append(self.text[self.start : kept_from])
        self.start = kept_from
