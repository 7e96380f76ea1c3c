"""A text of which only a beginning may be here, as a judgement on one of its marks sees it.

Whoever looks past what is here is stopped by ``NotYetError``: so a judgement that comes to an end
has seen all it needs, and more text cannot change it. Every look is bounded, ahead and back.

Knows: characters and words. Does not know: what they decide.
"""
# ruff: noqa: RUF001 - the curly apostrophe is meant

from __future__ import annotations

from streaming.segment import Ending
from streaming.text.marks import CLOSERS, NEWLINES, OPENERS, caseless

SPACES_LIMIT = 64
WORD_LIMIT = 32
TOKEN_LIMIT = 40
LINE_LIMIT = 256


class NotYetError(Exception):
    """What tells lies beyond the text that is here."""


class View:
    """``text`` from ``start`` on; ``final``: it ends where it does, nothing more will come."""

    def __init__(self, text: str, start: int, *, final: bool) -> None:
        self.text = text
        self._start = start
        self._final = final

    # --- ahead -----------------------------------------------------------------------------

    def peek(self, index: int) -> str:
        """The character there, or ``""`` past the end of a text that has one."""
        if index < len(self.text):
            return self.text[index]
        if self._final:
            return ""
        raise NotYetError

    def past_spaces(self, index: int) -> int:
        """Where the white space that may begin there ends."""
        limit = index + SPACES_LIMIT
        while index < limit and self.peek(index).isspace():
            index += 1
        return index

    def word(self, index: int) -> str:
        """The run of letters (and inner apostrophes) from there."""
        stop = index
        while stop - index < WORD_LIMIT:
            char = self.peek(stop)
            if not (char.isalpha() or (char in {"'", "’"} and stop > index)):
                break
            stop += 1
        return self.text[index:stop]

    def goes_on_small(self, index: int) -> bool:
        """Whether the next word has a small letter: ``"Go!" she said``."""
        return self.peek(self.past_spaces(index)).islower()

    def line_ending(self, index: int) -> Ending:
        """``paragraph`` where a blank line follows, else ``sentence``."""
        lines = 0
        for here in range(index, index + SPACES_LIMIT):
            char = self.peek(here)
            if not char.isspace():
                break
            inside_crlf = here > index and char == "\n" and self.text[here - 1] == "\r"
            lines += char in NEWLINES and not inside_crlf
            if lines > 1:
                return "paragraph"
        return "sentence"

    # --- back ------------------------------------------------------------------------------

    def before(self, index: int) -> str:
        """The character before it, or ``""`` where the pending text begins."""
        return self.text[index - 1] if index > self._start else ""

    def line_before(self, index: int) -> str:
        """What stands before it."""
        return self.text[max(self._start, index - LINE_LIMIT) : index]

    def token_before(self, index: int) -> str:
        """The word that ends there, inner stops included."""
        begin = index
        while begin > self._start and index - begin < TOKEN_LIMIT:
            char = self.text[begin - 1]
            if char.isspace() or char in OPENERS or char in CLOSERS or caseless(char):
                break
            begin -= 1
        return self.text[begin:index]
