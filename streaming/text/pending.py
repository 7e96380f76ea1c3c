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
from streaming.text.speakable import WORD_START, has_words

LEAD_LIMIT = 8
"""Marks that touch the first word (an opening quote, a minus sign) and are spoken with it."""


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
        self._width = 0
        self._quoted_at_start = False
        self._quoted = False
        self._quotes_to = 0

    def __len__(self) -> int:
        return len(self.text)

    def append(self, delta: str) -> None:
        """More text at the end."""
        self.text += delta

    def next_mark(self) -> int | None:
        """The next character at which a unit may end."""
        found = CANDIDATE.search(self.text, self.scan)
        return found.start() if found else None

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
        begin = found.start()
        lowest = max(self.start, begin - LEAD_LIMIT)
        while begin > lowest and not self.text[begin - 1].isspace():
            begin -= 1
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
        piece = Piece(
            self.text[self.start : end],
            self.text[begin:end],
            self.base + self.start,
            self.base + end,
        )
        ends_line = self.text[end : end + 1] in set(NEWLINES)
        self._quoted_at_start = not ends_line and self.quoted_at(end)
        self._quoted, self._quotes_to = self._quoted_at_start, end
        self.start = end
        self.skip(end)
        return piece

    def trim(self) -> None:
        """Forget the text that was taken away."""
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
