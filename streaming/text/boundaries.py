# ruff: noqa: RUF001, RUF002 - the curly apostrophe is meant
"""Whether a unit ends at a mark: a judgement on text of which only a beginning may be here.

Each judgement reads the text up to the mark and a bounded stretch after it, and says nothing until
that stretch has come. So once given it is final: more text cannot change it, and the way in which
the text was cut into deltas cannot either.

Knows: marks, abbreviations, numbers. Does not know: limits, times, what is done with a boundary.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from streaming.messages import Ending
from streaming.text import abbreviations
from streaming.text.marks import (
    ASCII_CLAUSES,
    CLAUSES,
    CLOSERS,
    DOTS,
    ELLIPSES,
    HYPHENS,
    LIST_COMMA,
    NEWLINES,
    OPENERS,
    SEMICOLONS,
    STOPS,
    WIDE_STOPS,
    caseless,
    width,
)
from streaming.text.speakable import PICTOGRAPH, has_words

RUN_LIMIT = 32
"""A run of marks (``?!!!”``) longer than this is judged by its first so many."""
SPACES_LIMIT = 64
WORD_LIMIT = 32
TOKEN_LIMIT = 40
LINE_LIMIT = 256

HESITATION_WIDTH = 4
"""An ellipsis after so little (嗯……) is a hesitation, not the end of a sentence."""
LIST_NUMBER_DIGITS = 3
"""A longer number that begins a line is no list marker."""


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


class _NotYetError(Exception):
    """What tells lies beyond the text that is here."""


def judge(text: str, mark: int, *, start: int, quoted: bool, final: bool) -> Verdict | None:
    """What the candidate at ``mark`` is, or None while more text is needed to tell.

    ``start``: where the pending text begins; nothing before it is looked at. ``quoted``: whether
    a straight double quote is open here. ``final``: judge as if the text ended where it does.
    """
    try:
        return _Judge(text, start, quoted=quoted, final=final).at_mark(mark)
    except _NotYetError:
        return None


class _Judge:
    def __init__(self, text: str, start: int, *, quoted: bool, final: bool) -> None:
        self._text = text
        self._start = start
        self._quoted = quoted
        self._final = final

    def at_mark(self, mark: int) -> Verdict:
        char = self._text[mark]
        if char in NEWLINES:
            return Verdict(mark, mark + 1, Rank.STOP, self._line_ending(mark))
        if char in HYPHENS:
            return self._hyphen(mark)
        end, last = self._run(mark)
        if last is None:
            return self._ranked(end, Rank.WEAK if self._parts(end) else Rank.NONE)
        if self._text[last] in CLAUSES:
            return self._clause(mark, end, last)
        return self._stop(mark, end, last)

    # --- reading ahead ---------------------------------------------------------------------

    def _peek(self, index: int) -> str:
        """The character there, or ``""`` past the end of a text that has one."""
        if index < len(self._text):
            return self._text[index]
        if self._final:
            return ""
        raise _NotYetError

    def _past_spaces(self, index: int) -> int:
        limit = index + SPACES_LIMIT
        while index < limit and self._peek(index).isspace():
            index += 1
        return index

    def _word(self, index: int) -> str:
        """The run of letters (and inner apostrophes) from there."""
        stop = index
        while stop - index < WORD_LIMIT:
            char = self._peek(stop)
            if not (char.isalpha() or (char in {"'", "’"} and stop > index)):
                break
            stop += 1
        return self._text[index:stop]

    def _line_ending(self, index: int) -> Ending:
        """``paragraph`` where a blank line follows."""
        lines = 0
        for here in range(index, index + SPACES_LIMIT):
            char = self._peek(here)
            if not char.isspace():
                break
            inside_crlf = here > index and char == "\n" and self._text[here - 1] == "\r"
            lines += char in NEWLINES and not inside_crlf
            if lines > 1:
                return "paragraph"
        return "sentence"

    def _run(self, mark: int) -> tuple[int, int | None]:
        """Where the run of marks, closing signs and emoji ends, and its last mark proper."""
        text, quoted, index = self._text, self._quoted, mark
        last: int | None = None
        while index < mark + RUN_LIMIT:
            char = self._peek(index)
            if char and (char in STOPS or char in CLAUSES):
                last = index
            elif char == '"' and quoted:
                quoted = False
            elif not (char and (char in CLOSERS or (last is not None and _pictured(char)))):
                return index, last
            index += 1
        while index > mark + 1 and PICTOGRAPH.match(text[index - 1]):
            index -= 1
        return index, last

    # --- looking back ----------------------------------------------------------------------

    def _before(self, index: int) -> str:
        return self._text[index - 1] if index > self._start else ""

    def _token_before(self, dot: int) -> str:
        """The word that the stop at ``dot`` belongs to, inner stops included."""
        index = dot
        while index > self._start and dot - index < TOKEN_LIMIT:
            char = self._text[index - 1]
            if char.isspace() or char in OPENERS or char in CLOSERS or caseless(char):
                break
            index -= 1
        return self._text[index:dot]

    # --- judging ---------------------------------------------------------------------------

    def _parts(self, end: int) -> bool:
        """Whether what stands at ``end`` is apart from what is before it."""
        after = self._peek(end)
        return not after or after.isspace() or caseless(after) or _pictured(after)

    @staticmethod
    def _ranked(end: int, rank: Rank) -> Verdict:
        return Verdict(end, end, rank)

    def _sentence(self, end: int, *, doubtful: bool = False) -> Verdict:
        ending: Ending = "sentence"
        if self._peek(end) in NEWLINES and self._peek(end):
            ending = self._line_ending(end)
        return Verdict(end, end, Rank.STOP, ending, doubtful)

    def _hyphen(self, mark: int) -> Verdict:
        """A dash between blanks; one inside a word, a range or an option is none."""
        end = mark + 1
        while self._peek(end) in HYPHENS and self._peek(end) and end - mark < RUN_LIMIT:
            end += 1
        before, after = self._before(mark), self._peek(end)
        if before.isspace() and (after.isspace() or not after):
            return self._ranked(end, Rank.CLAUSE)
        double = end - mark > 1 and before.isalpha() and (after.isalpha() or after.isspace())
        return self._ranked(end, Rank.CLAUSE if double else Rank.NONE)

    def _clause(self, mark: int, end: int, last: int) -> Verdict:
        char, before, after = self._text[last], self._before(mark), self._peek(end)
        if before.isdecimal() and self._number_goes_on(char, end):
            return self._ranked(end, Rank.NONE)
        if char in SEMICOLONS and (caseless(before) or (after and caseless(after))):
            return Verdict(end, end, Rank.STOP, "clause")
        if char in ASCII_CLAUSES and not (self._parts(end) or caseless(before)):
            return self._ranked(end, Rank.NONE)
        return self._ranked(end, Rank.WEAK if char == LIST_COMMA else Rank.CLAUSE)

    def _number_goes_on(self, char: str, end: int) -> bool:
        """``12,350``, ``9:30``, ``１，２００``, and the date in ``May 4, 1987``."""
        return self._peek(self._past_spaces(end) if char == "," else end).isdecimal()

    def _stop(self, mark: int, end: int, last: int) -> Verdict:
        stops = [char for char in self._text[mark : last + 1] if char in STOPS]
        dots = [char for char in stops if char in DOTS or char in ELLIPSES]
        if len(dots) < len(stops):
            return self._strong(end, last)
        if len(dots) > 1 or dots[0] in ELLIPSES:
            return self._ellipsis(mark, end, last)
        return self._dot(end, last)

    def _closed(self, end: int, last: int) -> bool:
        return end > last + 1

    def _goes_on_small(self, end: int) -> bool:
        """Whether the next word has a small letter: ``"Go!" she said``."""
        return self._peek(self._past_spaces(end)).islower()

    def _strong(self, end: int, last: int) -> Verdict:
        """``! ?`` and the stops of other scripts."""
        after = self._peek(end)
        if self._text[last] in WIDE_STOPS or not after:
            return self._sentence(end)
        if after in NEWLINES:
            return self._sentence(end)
        if after.isspace():
            small = self._closed(end, last) and self._goes_on_small(end)
            return self._ranked(end, Rank.WEAK) if small else self._sentence(end)
        opens = after.isupper() or after in OPENERS
        if self._parts(end) or (opens and not self._in_address(last)):
            return self._sentence(end)
        return self._ranked(end, Rank.NONE)

    def _in_address(self, index: int) -> bool:
        return any(char in "/@=&" for char in self._token_before(index))

    def _ellipsis(self, mark: int, end: int, last: int) -> Verdict:
        after = self._peek(end)
        if not after or after in NEWLINES:
            return self._sentence(end)
        if caseless(after) or caseless(self._before(mark)):
            said = self._text[max(self._start, mark - SPACES_LIMIT) : mark].strip()
            hesitates = width(said) <= HESITATION_WIDTH
            return self._ranked(end, Rank.WEAK) if hesitates else self._sentence(end)
        following = self._past_spaces(end)
        first = self._peek(following)
        if first.isupper() or first in OPENERS or _pictured(first) or self._closed(end, last):
            if first == "I" and self._word(following).partition("'")[0].partition("’")[0] == "I":
                return self._ranked(end, Rank.CLAUSE)
            return self._ranked(end, Rank.WEAK) if first.islower() else self._sentence(end)
        return self._ranked(end, Rank.WEAK)

    def _dot(self, end: int, dot: int) -> Verdict:
        """A single full stop, the mark that means the most things."""
        after = self._peek(end)
        if not after:
            return self._dot_at_end(end, dot)
        if after in NEWLINES:
            return self._sentence(end)
        if after.isspace():
            return self._dot_and_blank(end, dot)
        ends = self._dot_ends_glued(end, dot)
        return self._sentence(end) if ends else self._ranked(end, Rank.NONE)

    def _dot_ends_glued(self, end: int, dot: int) -> bool:
        """Whether a stop with neither a blank nor a line's end after it ends the sentence."""
        after = self._peek(end)
        if caseless(after) or _pictured(after) or _pictured(self._text[end - 1]):
            return not self._is_list_number(self._token_before(dot), dot)
        if after in OPENERS:
            small = self._before(dot).islower()
            return small and not abbreviations.kind(self._token_before(dot))
        return after.isupper() and self._sentence_glued(end, dot)

    def _dot_at_end(self, end: int, dot: int) -> Verdict:
        kind = abbreviations.kind(self._token_before(dot))
        if kind == "never":
            return self._ranked(end, Rank.NONE)
        before = self._before(dot)
        doubtful = kind not in {None, "number"} or before.isdecimal() or before.isspace()
        return self._sentence(end, doubtful=doubtful)

    def _is_list_number(self, token: str, dot: int) -> bool:
        """``1.`` where nothing has been said before it, or a colon stands before it."""
        if not (token.isdecimal() and len(token) <= LIST_NUMBER_DIGITS):
            return False
        before = self._text[max(self._start, dot - LINE_LIMIT) : dot - len(token)]
        return before.rstrip().endswith((":", "：")) or not has_words(before)

    def _dot_and_blank(self, end: int, dot: int) -> Verdict:
        token = self._token_before(dot)
        if self._is_list_number(token, dot):
            return self._ranked(end, Rank.NONE)
        closed, kind = self._closed(end, dot), abbreviations.kind(token)
        if kind == "never" and not closed:
            return self._ranked(end, Rank.NONE)
        if closed and self._goes_on_small(end):
            return self._ranked(end, Rank.WEAK)
        if kind is None or closed:
            return self._sentence(end)
        return self._after_abbreviation(end, kind)

    def _after_abbreviation(self, end: int, kind: abbreviations.Kind) -> Verdict:
        following = self._past_spaces(end)
        first = self._peek(following)
        if not first:
            return self._sentence(end, doubtful=True)
        if kind in {"number", "reference"}:
            goes_on = first.isdecimal() or first in "[(#"
            ends = not (goes_on or (kind == "reference" and first.islower()))
        elif not first.isalpha():
            ends = first in OPENERS and first not in "([" and kind == "ender"
        elif caseless(first):
            ends = True
        else:
            word = self._word(following)
            unfinished = following + len(word) == len(self._text)
            if abbreviations.begins_sentence(word, kind):
                return self._sentence(end, doubtful=unfinished)
            ends = False
        return self._sentence(end) if ends else self._ranked(end, Rank.NONE)

    def _sentence_glued(self, end: int, dot: int) -> bool:
        """``trains.The first`` ends a sentence; ``Node.Js``, ``Mr.Ortega``, ``U.S.A`` do not."""
        before = self._before(dot)
        if caseless(before) or self._closed(end, dot):
            return True
        if not (before.islower() or before.isdecimal()):
            return False
        token = self._token_before(dot)
        if any(char in "./@:\\_=&" for char in token) or len(token) < 2:  # noqa: PLR2004  a word
            return False
        if abbreviations.kind(token) or (before.isdecimal() and not token.isdecimal()):
            return False
        return self._word_stands_alone(end)

    def _word_stands_alone(self, index: int) -> bool:
        """Whether the capitalised word there is one of a sentence, not of a name with dots."""
        word = self._word(index)
        after = self._peek(index + len(word))
        if len(word) > 1 and word.isupper() and word.isascii():
            return False
        if after == ".":
            beyond = self._peek(index + len(word) + 1)
            return len(word) > 1 and not (beyond.islower() or beyond.isdecimal())
        return not after or not (after.isdecimal() or after in "(/@_\\")


def _pictured(char: str) -> bool:
    return char > "\x7f" and PICTOGRAPH.match(char) is not None
