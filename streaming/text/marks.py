# ruff: noqa: RUF001 - full-width twins and printed marks are meant
"""The characters that segmentation looks at, and how wide a text is.

Knows: classes of code points. Does not know: what any of them means where it stands
(``boundaries.py`` judges that).
"""

from __future__ import annotations

import re

from streaming.text.speakable import PICTOGRAPH

NEWLINES = "\n\r\x0b\x0c\x85\u2028\u2029"

DOTS = ".．"
WIDE_STOPS = "。！？｡؟۔।॥։"
"""Stops that end a sentence whatever follows; the others need white space or a capital."""
ROUND_STOPS = "。｡"
FACE_SIGNS = frozenset("･・•ω◕▽≧≦´`′ﾟ°♥♡_＿><＞＜﹏‿๑ㅂ◡⌒●◉✧^﹃ε∀")
FACE_ENDS = frozenset(")）*`´′ﾉ♡♥")
"""What stands before and after a round stop that is part of a face."""
SET_OFF = frozenset("(（´`｀╥")
"""A semicolon behind one of these is an eye."""
ASCII_STOPS = "!?‼⁇⁈⁉"
ELLIPSES = "…‥⋯"
STOPS = DOTS + WIDE_STOPS + ASCII_STOPS + ELLIPSES

WIDE_CLAUSES = "，；：﹐﹔﹕、"
ASCII_CLAUSES = ",;:،؛"
SEMICOLONS = ";；"
LIST_COMMA = "、"
LONG_DASHES = "—―"
HYPHENS = "-–"
CLAUSES = WIDE_CLAUSES + ASCII_CLAUSES + LONG_DASHES

BRACKETS = ")]）］】」』"
"""Closing brackets: weak places to cut a sentence that is too long."""
CLOSERS = BRACKETS + "}｝〕》〉〗〙»›”’'*`_"
"""What stays with the sentence before it: brackets, quotes, the ends of Markdown emphasis."""
OPENERS = "([{（［｛「『【〔《〈«‹“‘\"'¿¡"

_ELSEWHERE = (STOPS + CLAUSES + HYPHENS + BRACKETS + NEWLINES).translate(
    dict.fromkeys(map(ord, ".!?"))
)
CANDIDATE = re.compile(f"[.!?](?![a-z0-9])|[{re.escape(_ELSEWHERE)}]")
"""A character at which a unit may end."""

_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3"
    "\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003ffff]"
)


def width(text: str) -> int:
    """Length in Latin letters: an East Asian wide character counts 2, as it is spoken longer."""
    if text.isascii():
        return len(text)
    return 2 * len(text) - len(_WIDE.sub("", text))


def caseless(char: str) -> bool:
    """Whether this is a letter of a script without capitals (Han, kana, Arabic, Thai…)."""
    return char > "\x7f" and char.isalpha() and char.lower() == char.upper()


def pictured(char: str) -> bool:
    """Whether this is part of an emoji."""
    return char > "\x7f" and PICTOGRAPH.match(char) is not None
