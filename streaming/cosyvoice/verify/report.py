"""What is printed: facts as they become known, sentences as they are spoken, checks, a verdict.

Knows: terminals, words for people. Does not know: how anything was found out.
"""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Sequence
from typing import Final, TextIO

from streaming.cosyvoice.verify.judging import Check
from streaming.cosyvoice.verify.sentences import Sentence

_WIDTH: Final = 88
_LABEL: Final = 14
_LONGEST: Final = 400
_GOOD, _BAD, _UNKNOWN, _STRONG = "32", "31", "33", "1"


class Report:
    """On one stream; with colours where that is a terminal that wants them."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        if isinstance(out, io.TextIOWrapper):  # a console that has no Chinese still says the rest
            out.reconfigure(errors="replace")
        self._coloured = out.isatty() and "NO_COLOR" not in os.environ
        self._marks = _marks(out)

    def title(self, text: str) -> None:
        """A line that stands out."""
        self._line(self._in(_STRONG, text))

    def fact(self, label: str, value: str) -> None:
        """``label  value``, the value folded under itself."""
        begin = f"  {label:<{_LABEL}}" if len(label) < _LABEL else f"  {label}  "
        if len(value) > _LONGEST:
            value = f"{value[:_LONGEST]} …"
        wrapped = textwrap.wrap(
            value,
            _WIDTH,
            initial_indent=begin,
            subsequent_indent=" " * (_LABEL + 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
        self._line("\n".join(wrapped) or begin.rstrip())

    def sentence(self, number: int, sentence: Sentence) -> None:
        """What is about to be spoken."""
        self._line()
        self.title(f"{number}  {sentence.title}, voice {sentence.voice}")
        if sentence.instruct:
            self.fact("instruction", sentence.instruct)
        self.fact("to be said", sentence.text)

    def checks(self, found: Sequence[Check]) -> None:
        """One line each."""
        self._line()
        for check in found:
            mark, colour = self._marks[check.good], _colour(check.good)
            detail = f": {check.detail}" if check.detail else ""
            self._line(f"{self._in(colour, mark)} {check.what}{detail}")

    def verdict(self, text: str, *, good: bool | None) -> None:
        """The last word; more lines follow it plainly."""
        first, *more = text.split("\n")
        self._line()
        self._line(self._in(f"{_STRONG};{_colour(good)}", first))
        for line in more:
            self._line(line)

    def _line(self, text: str = "") -> None:
        print(text, file=self._out, flush=True)

    def _in(self, colour: str, text: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._coloured else text


def seconds(value: float) -> str:
    """For people: 0.85 s, 12 s."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"  # noqa: PLR2004 - two digits and more


def _colour(good: bool | None) -> str:
    return {True: _GOOD, False: _BAD, None: _UNKNOWN}[good]


def _marks(out: TextIO) -> dict[bool | None, str]:
    signs: dict[bool | None, str] = {True: "✓", False: "✗", None: "?"}
    try:
        "".join(signs.values()).encode(out.encoding or "utf-8")
    except UnicodeEncodeError:
        return {True: "ok  ", False: "BAD ", None: "?   "}
    return signs
