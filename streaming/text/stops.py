"""Whether a stop ends its sentence: full stops, question and exclamation marks, ellipses.

Knows: abbreviations, list numbers, names with dots, hesitations. Does not know: clause marks,
limits, times.
"""
# ruff: noqa: RUF001 - full-width and curly marks are meant

from __future__ import annotations

import re

from streaming.segment import Ending
from streaming.text import abbreviations
from streaming.text.marks import (
    DOTS,
    ELLIPSES,
    FACE_ENDS,
    FACE_SIGNS,
    NEWLINES,
    OPENERS,
    ROUND_STOPS,
    STOPS,
    WIDE_STOPS,
    caseless,
    pictured,
    width,
)
from streaming.text.speakable import has_words
from streaming.text.verdict import Rank, Verdict, ranked
from streaming.text.view import View

HESITATION_WIDTH = 4
"""An ellipsis after so little (嗯……) is a hesitation, not the end of a sentence."""
_NUMBER_AT_END = re.compile(r"(?<![^\s:：，、；,;(（])\d{1,3}\Z")
"""What may number a list's item; a longer number does not."""
SHORTEST_WORD = 2
"""Of a sentence that another follows without a blank; less is part of a name."""


def judge_stop(view: View, mark: int, end: int, last: int) -> Verdict:
    """Judge the run of marks from ``mark`` to ``end``, whose last mark proper is at ``last``.

    What stands between ``last`` and ``end`` closes the sentence: quotes, brackets, emoji.
    """
    stops = [char for char in view.text[mark : last + 1] if char in STOPS]
    dots = [char for char in stops if char in DOTS or char in ELLIPSES]
    if not view.peek(end) or view.peek(end) in NEWLINES:
        return _at_an_end(view, end, last, dot=len(stops) == len(dots) == 1)
    if len(dots) < len(stops):
        return _strong(view, end, last)
    if len(dots) > 1 or dots[0] in ELLIPSES:
        return _ellipsis(view, mark, end, last)
    return _dot(view, end, last)


def _sentence(end: int, *, ending: Ending = "sentence", doubtful: bool = False) -> Verdict:
    return Verdict(end, end, Rank.STOP, ending, doubtful)


def _sentence_if(ends: bool, end: int, otherwise: Rank = Rank.NONE) -> Verdict:
    return _sentence(end) if ends else ranked(end, otherwise)


def _at_an_end(view: View, end: int, last: int, *, dot: bool) -> Verdict:
    """At a line's end all of them end the sentence; at the text's, an abbreviation need not."""
    if view.peek(end):
        return _sentence(end, ending=view.line_ending(end))
    if not dot:
        return _sentence(end)
    kind = abbreviations.kind(view.token_before(last))
    if kind == "never":
        return ranked(end, Rank.NONE)
    before = view.before(last)
    doubtful = kind not in {None, "number"} or before.isdecimal() or before.isspace()
    return _sentence(end, doubtful=doubtful)


def _strong(view: View, end: int, last: int) -> Verdict:
    """``! ?`` and the stops of other scripts."""
    after, closed = view.peek(end), end > last + 1
    if view.text[last] in WIDE_STOPS:
        return _sentence_if(not _in_face(view, last), end)
    if after.isspace():
        return _sentence_if(not (closed and view.goes_on_small(end)), end, Rank.WEAK)
    if caseless(after) or pictured(after):
        return _sentence(end)
    opens = after.isupper() or after in OPENERS
    return _sentence_if(opens and not _in_address(view, last), end)


def _in_face(view: View, index: int) -> bool:
    """Whether the round stop is an eye or a cheek: ``(｡･ω･｡)``, ``(。◕‿◕。)``."""
    if view.text[index] not in ROUND_STOPS:
        return False
    before = view.before(index)
    if before and before in "(（":
        return True
    return before in FACE_SIGNS and view.peek(index + 1) in FACE_ENDS


def _in_address(view: View, index: int) -> bool:
    return any(char in "/@=&" for char in view.token_before(index))


def _ellipsis(view: View, mark: int, end: int, last: int) -> Verdict:
    """One ends its sentence before a capital; in unspaced scripts, where enough was said."""
    if caseless(view.peek(end)) or caseless(view.before(mark)):
        said = view.line_before(mark).strip()
        return _sentence_if(width(said) > HESITATION_WIDTH, end, Rank.WEAK)
    following = view.past_spaces(end)
    first, closed = view.peek(following), end > last + 1
    if first == "I" and view.word(following).replace("’", "'").partition("'")[0] == "I":
        return ranked(end, Rank.CLAUSE)
    begins = first.isupper() or first in OPENERS or pictured(first)
    return _sentence_if(begins or (closed and not first.islower()), end, Rank.WEAK)


def _dot(view: View, end: int, dot: int) -> Verdict:
    """A single full stop, the mark that means the most things."""
    after = view.peek(end)
    if after.isspace():
        return _dot_and_blank(view, end, dot)
    if caseless(after) or pictured(after) or pictured(view.text[end - 1]):
        return _sentence_if(not _is_list_number(view, dot), end)
    if after in OPENERS:
        small = view.before(dot).islower()
        return _sentence_if(small and not abbreviations.kind(view.token_before(dot)), end)
    return _sentence_if(after.isupper() and _ends_before_capital(view, end, dot), end)


def _is_list_number(view: View, dot: int) -> bool:
    """``1.`` where nothing has been said before it, or a colon stands before it.

    In Chinese, ``2.`` behind a comma or a blank too: ``1.苹果 2.香蕉``.
    """
    found = _NUMBER_AT_END.search(view.line_before(dot))
    if found is None:
        return False
    before = found.string[: found.start()].rstrip()
    if not has_words(before):
        return True
    if caseless(view.peek(dot + 1) or "."):
        return before[-1] in ":：，、；,;" or found.string[found.start() - 1].isspace()
    return before[-1] in ":：" and found.group() == "1"


def _dot_and_blank(view: View, end: int, dot: int) -> Verdict:
    token, closed = view.token_before(dot), end > dot + 1
    if _is_list_number(view, dot):
        return ranked(end, Rank.NONE)
    if closed:
        return _sentence_if(not view.goes_on_small(end), end, Rank.WEAK)
    if token.isdecimal() and _is_german_day(view, end, dot - len(token)):
        return ranked(end, Rank.NONE)
    kind = abbreviations.kind(token)
    if kind is None:
        return _sentence(end)
    return ranked(end, Rank.NONE) if kind == "never" else _after_abbreviation(view, end, kind)


def _is_german_day(view: View, end: int, begin: int) -> bool:
    """``am 3. Oktober``: German puts a stop behind the day of a month."""
    before = view.line_before(begin).split()
    if not before or before[-1] not in abbreviations.BEFORE_GERMAN_DAY:
        return False
    return view.word(view.past_spaces(end)) in abbreviations.GERMAN_MONTHS


def _after_abbreviation(view: View, end: int, kind: abbreviations.Kind) -> Verdict:
    following = view.past_spaces(end)
    first = view.peek(following)
    if not first:
        return _sentence(end, doubtful=True)
    if kind in {"number", "reference"}:
        goes_on = first.isdecimal() or first in "[(#"
        if kind == "reference":
            goes_on |= first.islower() or abbreviations.roman(view.word(following))
        return _sentence_if(not goes_on, end)
    if not first.isalpha():
        return _sentence_if(kind == "ender" and first in OPENERS and first not in "([", end)
    if caseless(first):
        return _sentence(end)
    word = view.word(following)
    if not abbreviations.begins_sentence(word, kind):
        return ranked(end, Rank.NONE)
    return _sentence(end, doubtful=following + len(word) == len(view.text))


def _ends_before_capital(view: View, end: int, dot: int) -> bool:
    """``trains.The first`` ends a sentence; ``Node.Js``, ``Mr.Ortega``, ``U.S.A`` do not."""
    before = view.before(dot)
    if caseless(before) or end > dot + 1:
        return True
    if not (before.islower() or before.isdecimal()):
        return False
    token = view.token_before(dot)
    if len(token) < SHORTEST_WORD or any(char in "./@:\\_=&" for char in token):
        return False
    if abbreviations.kind(token) or (before.isdecimal() and not token.isdecimal()):
        return False
    return _stands_alone(view, end)


def _stands_alone(view: View, index: int) -> bool:
    """Whether the capitalised word there is one of a sentence, not of a name with dots."""
    word = view.word(index)
    after = view.peek(index + len(word))
    if len(word) > 1 and word.isupper() and word.isascii():
        return False
    if after == ".":
        beyond = view.peek(index + len(word) + 1)
        return len(word) > 1 and not (beyond.islower() or beyond.isdecimal())
    return not after or not (after.isdecimal() or after in "(/@_\\")
