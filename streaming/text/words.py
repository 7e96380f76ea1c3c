# ruff: noqa: RUF001 - full-width twins and printed marks are meant
"""The words of a segment as its client wrote them, and about when each is heard.

Knows: how to find words and guess how long each takes to say. Does not know: the audio beyond its
length.

The times are a rule of thumb: each word gets the share of the audio that its syllables, letters
and digits have in the whole, and the pause after a mark counts to the word before it.
"""

from __future__ import annotations

import re
from itertools import accumulate

from streaming.messages import Segment, Word

_UNSPACED = (
    "\u2e80-\u2fdf\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W{_UNSPACED}]"
_WORD = re.compile(
    rf"[{_UNSPACED}][\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u30a1\u30a3\u30a5"
    r"\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7\u30fc]*"
    rf"|[$€£¥￥@#]?(?:(?<!\w)[+\-−.](?=\d))?{_LETTER}+"
    rf"(?:(?:://|[,.:/'’&@?=~%+\-−–](?={_LETTER})){_LETTER}+)*"
    r"(?:%|‰|°[CF]?|[+#]{1,2})?"
    r"|(?<![%$€£¥+=@&])[%$€£¥+=@&](?![%$€£¥+=@&])"
)

_VOWELS = re.compile("[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿœ]+", re.IGNORECASE)
_CAPITALS = re.compile("[A-Z]+")

DIGIT_WEIGHT = 1.3
"""Syllables a digit takes: "seven" two, "three" one, and "thousand" has to go somewhere."""
HAN_WEIGHT = 1.0
CLAUSE_PAUSE = 1.5
STOP_PAUSE = 2.5
WORD_WEIGHT = 0.35
"""What a word takes beside its syllables: its consonants, and where it meets the next."""


def split_words(segment: Segment) -> list[tuple[str, int, int]]:
    """``(text, char_start, char_end)`` of each word, in the context's code points.

    A Han character or a kana is a word; otherwise a word runs to the next blank or mark, and
    amounts, times, addresses and names with dots in them are whole.
    """
    return [
        (match.group(), segment.char_start + match.start(), segment.char_start + match.end())
        for match in _WORD.finditer(segment.source)
        if match.group().strip("_")
    ]


def estimate_words(segment: Segment, start_samples: int, samples: int) -> tuple[Word, ...]:
    """The words with the times they are heard, filling the segment's audio without a gap.

    ``start_samples`` is where the segment's audio begins in the context, ``samples`` its length.
    """
    words = split_words(segment)
    if not words:
        return ()
    source, offset = segment.source, segment.char_start
    ends = [start for _, start, _ in words[1:]] + [offset + len(source)]
    weights = [
        _weight(text)
        + (_pause(source[end - offset : until - offset]) if index < len(words) - 1 else 0.0)
        for index, ((text, _, end), until) in enumerate(zip(words, ends, strict=True))
    ]
    total = sum(weights)
    borders = [
        start_samples + round(samples * reached / total)
        for reached in accumulate(weights, initial=0.0)
    ]
    return tuple(
        Word(
            text=text,
            char_start=char_start,
            char_end=char_end,
            start_samples=borders[index],
            end_samples=borders[index + 1],
        )
        for index, (text, char_start, char_end) in enumerate(words)
    )


def _weight(word: str) -> float:
    """How long the word takes to say, in syllables."""
    if re.match(f"[{_UNSPACED}]", word):
        return HAN_WEIGHT
    digits = sum(char.isdecimal() for char in word)
    symbols = sum(not char.isalnum() and char not in "'’,._" for char in word)
    letters = re.sub(r"[\W\d_]", " ", word)
    spelt = sum(
        len(part) for part in letters.split() if len(part) > 1 and _CAPITALS.fullmatch(part)
    )
    said = sum(
        max(1, len(_VOWELS.findall(part)) - (part.endswith("e") and len(part) > 3))  # noqa: PLR2004
        for part in letters.split()
        if not (len(part) > 1 and _CAPITALS.fullmatch(part))
    )
    return WORD_WEIGHT + DIGIT_WEIGHT * digits + symbols + spelt + said


def _pause(gap: str) -> float:
    if re.search("[.!?。！？…\n]", gap):
        return STOP_PAUSE
    return CLAUSE_PAUSE if re.search("[,;:，；：—、()（）]", gap) else 0.0
