"""What a model thought before it answered: taken out of text while it arrives.

Knows: how such spans are marked. Does not know: segments, times. What comes out is the same for
every way of cutting the text into deltas: of the text's end, only what may yet become a tag waits.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think"
_ATTRIBUTES = r"(?:\s[^<>\[\]]{0,64})?"
_OPEN = re.compile(
    rf"<(?:{_NAMES}){_ATTRIBUTES}>|<\|(?:{_NAMES}|begin_of_thought)\|>|\[(?:{_NAMES})\]|◁think▷",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"</\s?(?:{_NAMES})\s?>|<\|(?:/(?:{_NAMES})|end_of_thought|end_(?:{_NAMES}))\|>|\[/(?:{_NAMES})\]|◁/think▷",
    re.IGNORECASE,
)
_TAG_FORMS = ["<{}>", "</{}>", "<|{}|>", "<|/{}|>", "<|end_{}|>", "[{}]", "[/{}]"]
_SPACED_FORMS = ("</ {} >", "</{} >", "</ {}>")
_TAGS = (
    *(form.format(name) for name in _NAMES.split("|") for form in (*_TAG_FORMS, *_SPACED_FORMS)),
    *("<|begin_of_thought|>", "<|end_of_thought|>", "◁think▷", "◁/think▷"),
)
_PREFIXES = frozenset(tag[:size] for tag in _TAGS for size in range(1, len(tag)))
_BEGUN_TAG = re.compile(rf"<(?:{_NAMES})\s[^<>\[\]]{{0,64}}\Z", re.IGNORECASE)
LONGEST_TAG = 96
"""Characters that may wait at most; what is longer is no tag."""


class Passed(NamedTuple):
    """``source`` came in and ``text`` goes on in its place; they differ where a span was."""

    source: str
    text: str


class ReasoningFilter:
    """One context's text without the spans."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    @property
    def waits(self) -> bool:
        """Whether text waits that may be spoken: the beginning of what may become a tag."""
        return bool(self._held) and not self._inside

    def append(self, delta: str) -> list[Passed]:
        """What of the text so far is decided."""
        text, out = self._held + delta, list[Passed]()
        done = 0
        while found := (_CLOSE if self._inside else _EITHER).search(text, done):
            if self._inside:
                out.append(Passed(text[done : found.end()], ""))
                self._inside = False
            else:
                out += [Passed(text[done : found.start()], text[done : found.start()])]
                out.append(Passed(found.group(), " "))
                self._inside = _OPEN.fullmatch(found.group()) is not None
            done = found.end()
        kept = _undecided(text, done)
        passed = text[done:kept]
        out.append(Passed(passed, "" if self._inside else passed))
        self._held = text[kept:]
        return [each for each in out if each.source]

    def release(self) -> list[Passed]:
        """What waits is no tag; a span that was not closed goes on, and stays unspoken."""
        held, self._held = self._held, ""
        return [Passed(held, "" if self._inside else held)] if held else []


_EITHER = re.compile(f"{_OPEN.pattern}|{_CLOSE.pattern}", re.IGNORECASE)


def _undecided(text: str, done: int) -> int:
    """From where on the text may yet become a tag."""
    lowest = max(done, len(text) - LONGEST_TAG)
    for index in range(lowest, len(text)):
        if text[index] in "<[◁":
            tail = text[index:]
            if tail.lower() in _PREFIXES or _BEGUN_TAG.match(tail):
                return index
    return len(text)
