# ruff: noqa: RUF001 - full-width marks are meant
"""Where to break a sentence that is too long, or that may wait no longer.

Knows: graphemes, words, white space. Does not know: when a break is needed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from streaming.segment import Ending
from streaming.text.marks import CLAUSES, CLOSERS, OPENERS, STOPS, caseless, width
from streaming.text.verdict import Rank

ZWJ = "\u200d"
_EXTENDS = re.compile(
    "[\u1160-\u11ff\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_KEPT_BEFORE = frozenset(
    STOPS + CLAUSES + CLOSERS + "々ーゝゞぁぃぅぇぉっゃゅょァィゥェォッャュョ%℃°"
)


PLAIN_WORDS_AFTER = 2
LEAST_PLAIN_WIDTH = 12
"""What a unit of plain words has at least, so that it is worth a message of its own."""
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_PLAIN_WORD = re.compile(r"[ \t]*([^\W\d_]+(?:['’][^\W\d_]+)?)([,:]?)(?=\s)")
_PLAIN_CLAUSE = re.compile(rf"[ \t]*[{_HAN}、]+[，：](?=[{_HAN}]{{2}})")
_SHORT_WORDS = frozenset("AIaeiouvyàé")
"""Letters that are words, not initials."""


class Place(NamedTuple):
    """A judged boundary inside the pending text: it may be broken before ``end``."""

    end: int
    rank: Rank


class Break(NamedTuple):
    """Where to cut, and how what comes before then ends."""

    end: int
    ending: Ending


def best_break(text: str, begin: int, limit: int, places: Iterable[Place]) -> Break:
    """The best place in ``(begin, limit]``: a clause mark near the limit, then white space.

    "Near" is the further half. Only where neither is found anywhere is a run of letters cut:
    between two Han characters or the like, else at the border of a grapheme.
    """
    inside = [place for place in places if begin < place.end <= limit]
    near = begin + (limit - begin) // 2
    blank = last_blank(text, begin, limit)
    for rank in (Rank.CLAUSE, Rank.WEAK):
        ends = [place.end for place in inside if place.rank >= rank and place.end >= near]
        if ends:
            return Break(ends[-1], "clause" if rank is Rank.CLAUSE else "forced")
    if blank is not None and blank >= near:
        return Break(blank, "forced")
    if inside and (blank is None or inside[-1].end >= blank):
        return Break(inside[-1].end, "clause" if inside[-1].rank > Rank.WEAK else "forced")
    if blank is not None:
        return Break(blank, "forced")
    return Break(_inside_word(text, begin, limit), "forced")


def plain_break(text: str, begin: int, limit: int, *, between_words: bool = True) -> Break | None:
    """Where the first unit of ``text[begin:]`` ends within its sentence.

    Only where there is nothing else but words of letters, as far as two words behind that place:
    what stands between other signs (numbers, Markdown, names in capitals) is read as a whole.
    Between Han characters it is a clause mark; between words, a blank or a mark.

    All that tells it must lie within ``limit`` (see ``marks.width``): a sentence that is longer is
    cut as soon as so much has come, and what comes after that must not change where.
    """
    places: list[Break] = []
    at = first = len(text) - len(text[begin:].lstrip())
    while True:
        if found := _PLAIN_CLAUSE.match(text, at):
            places.append(Break(found.end(), "clause"))
            after, looks = 0, 2
        elif (found := _PLAIN_WORD.match(text, at)) and _plain(found[1]):
            places.append(Break(found.end(), "clause" if found[2] else "forced"))
            after, looks = PLAIN_WORDS_AFTER, 1
        else:
            return None
        at = found.end()
        if width(text[first : at + looks]) > limit:
            return None
        if len(places) > after:
            cut = places[-1 - after]
            here = between_words or cut.ending == "clause"
            if here and width(text[begin : cut.end]) >= LEAST_PLAIN_WIDTH:
                return cut


def _plain(word: str) -> bool:
    """Whether it is a word in a script with capitals, and no acronym, initial or Roman numeral."""
    if any(map(caseless, word)):
        return False
    return word[1:].islower() if len(word) > 1 else word in _SHORT_WORDS


def last_blank(text: str, begin: int, limit: int) -> int | None:
    """Where the last white space that begins in ``(begin, limit]`` begins."""
    for index in range(min(limit, len(text) - 1), begin, -1):
        if text[index].isspace() and not text[index - 1].isspace():
            return index
    return None


def _inside_word(text: str, begin: int, limit: int) -> int:
    for index in range(limit, begin, -1):
        if breaks_between_words(text, index):
            return index
    for index in range(limit, begin, -1):
        if breaks_graphemes(text, index):
            return index
    return limit


def breaks_between_words(text: str, index: int) -> bool:
    """Whether unspaced scripts may be broken there: beside a Han character, before no mark."""
    before, after = text[index - 1], text[index : index + 1]
    if not (caseless(before) or (after and caseless(after))) or before in OPENERS:
        return False
    return (not after or after not in _KEPT_BEFORE) and breaks_graphemes(text, index)


def breaks_graphemes(text: str, index: int) -> bool:
    """Whether a cut there leaves every character that a reader sees whole."""
    if not 0 < index < len(text):
        return True
    before, after = text[index - 1], text[index]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if before == ZWJ or _EXTENDS.match(after) or unicodedata.category(after)[0] == "M":
        return False
    return not (_flag(before) and _flag(after) and _flags_before(text, index) % 2)


def _flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, index: int) -> int:
    count = 0
    while count < index and _flag(text[index - 1 - count]):
        count += 1
    return count
