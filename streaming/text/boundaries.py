"""Whether a unit ends at a mark: a judgement on text of which only a beginning may be here.

Each judgement reads a bounded stretch around the mark, and says nothing until that has come. So
once given it is final: more text cannot change it, and how the text was cut into deltas cannot.

Knows: runs of marks, clauses, lines. Does not know: limits, times, what is done with a boundary.
"""
# ruff: noqa: RUF002 - full-width marks are meant

from __future__ import annotations

from streaming.text.marks import (
    ASCII_CLAUSES,
    CLAUSES,
    CLOSERS,
    FACE_SIGNS,
    HYPHENS,
    LIST_COMMA,
    NEWLINES,
    SEMICOLONS,
    SET_OFF,
    STOPS,
    caseless,
    pictured,
)
from streaming.text.stops import judge_stop
from streaming.text.verdict import Rank, Verdict, ranked
from streaming.text.view import NotYetError, View

TAG_LIMIT = 16
RUN_LIMIT = 32
"""A run of marks (``?!!!”``) longer than this is judged by its first so many."""


def judge(text: str, mark: int, *, start: int, quoted: bool, final: bool) -> Verdict | None:
    """What the candidate at ``mark`` is, or None while more text is needed to tell.

    ``start``: where the pending text begins; nothing before it is looked at. ``quoted``: whether
    a straight double quote is open here. ``final``: judge as if the text ended where it does.
    """
    try:
        return _judge(View(text, start, final=final), mark, quoted=quoted)
    except NotYetError:
        return None


def _judge(view: View, mark: int, *, quoted: bool) -> Verdict:
    char = view.text[mark]
    if char in NEWLINES:
        return Verdict(mark, mark + 1, Rank.STOP, view.line_ending(mark))
    if char in HYPHENS:
        return _hyphen(view, mark)
    end, last = _run(view, mark, quoted=quoted)
    if last is None:
        return ranked(end, Rank.WEAK if _apart(view, end) else Rank.NONE)
    if view.text[last] in CLAUSES:
        return _clause(view, mark, end, view.text[last])
    return judge_stop(view, mark, end, last)


def _run(view: View, mark: int, *, quoted: bool) -> tuple[int, int | None]:
    """Where the run of marks, closing signs and emoji ends, and its last mark proper."""
    last: int | None = None
    index = mark
    while index < mark + RUN_LIMIT:
        char = view.peek(index)
        if char and (char in STOPS or char in CLAUSES):
            last = index
        elif char == '"' and quoted:
            quoted = False
        elif last is not None and char == "<" and (tag := _closing_tag(view, index)):
            index = tag
            continue
        elif not (char and (char in CLOSERS or (last is not None and pictured(char)))):
            return index, last
        index += 1
    while index > mark + 1 and pictured(view.text[index - 1]):
        index -= 1  # the rest of an emoji may still come
    return index, last


def _closing_tag(view: View, index: int) -> int:
    """Where ``</strong>`` or the like ends that begins there, or 0."""
    end = index + 1
    if view.peek(end) != "/":
        return 0
    while end - index < TAG_LIMIT:
        end += 1
        char = view.peek(end)
        if char == ">":
            return end + 1
        if not (char.isascii() and char.isalnum()):
            return 0
    return 0


def _apart(view: View, end: int) -> bool:
    """Whether what stands at ``end`` is no part of a word that goes on."""
    after = view.peek(end)
    return not after or after.isspace() or caseless(after) or pictured(after)


def _hyphen(view: View, mark: int) -> Verdict:
    """A dash between blanks; one inside a word, a range or an option is none."""
    end = mark + 1
    while end - mark < RUN_LIMIT and view.peek(end) and view.peek(end) in HYPHENS:
        end += 1
    before, after = view.before(mark), view.peek(end)
    if before.isspace() and (after.isspace() or not after):
        return ranked(end, Rank.WEAK if _counts(view, end) else Rank.CLAUSE)
    double = end - mark > 1 and before.isalpha() and (after.isalpha() or after.isspace())
    return ranked(end, Rank.CLAUSE if double else Rank.NONE)


def _counts(view: View, end: int) -> bool:
    """Whether a number follows the dash: ``10 - 3``, ``9 am - 5 pm``, ``$5 - $9``."""
    following = view.peek(view.past_spaces(end))
    return following.isdecimal() or (following != "" and following in "$€£¥￥")


def _clause(view: View, mark: int, end: int, char: str) -> Verdict:
    before, after = view.before(mark), view.peek(end)
    if char in SEMICOLONS and (before in SET_OFF or after in FACE_SIGNS):
        return ranked(end, Rank.NONE)  # the eyes of a face
    if before.isdecimal() and _number_goes_on(view, char, end):
        return ranked(end, Rank.NONE)
    if char in SEMICOLONS and (caseless(before) or caseless(after)):
        return Verdict(end, end, Rank.STOP, "clause")
    if char in ASCII_CLAUSES and not (_apart(view, end) or caseless(before)):
        return ranked(end, Rank.NONE)
    return ranked(end, Rank.WEAK if char == LIST_COMMA else Rank.CLAUSE)


def _number_goes_on(view: View, char: str, end: int) -> bool:
    """``12,350``, ``9:30``, ``１，２００``, and the date in ``May 4, 1987``."""
    return view.peek(view.past_spaces(end) if char == "," else end).isdecimal()
