# ruff: noqa: RUF001 - full-width twins and printed marks are meant
"""The words of a segment as its client wrote them, and about when each is heard.

Knows: how to find words and guess how long each takes to say. Does not know: the audio beyond its
length.

The times are a rule of thumb: each word gets the share of the audio that its syllables, letters
and digits have in the whole, and the pause after a mark counts to the word before it. Against the
times that a recogniser (Whisper base, itself some 50 ms off) gives the embedded voice, on twelve
English sentences that the figures were not fitted to, words begin 98 ms off on average, 81 ms in
the median, 250 ms at the 95th percentile and 420 ms at worst, and rather late than early. For
Chinese nothing has been measured yet.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

from streaming.samples import SAMPLE_RATE
from streaming.segment import Segment, Word
from streaming.text.normal.markup import SILENT

_UNSPACED = (
    "\u2e80-\u2fdf\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W{_UNSPACED}]"
_WORD = re.compile(
    rf"[{_UNSPACED}][\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u30a1\u30a3\u30a5"
    r"\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7\u30fc]*"
    rf"|[$€£¥￥@#]?(?:(?<!\w)[+\-−.](?=\d))?{_LETTER}+"
    rf"(?:(?:://|[,.:/'’&@?=~%+\-−–](?={_LETTER})|(?<=[０-９])(?:，(?=[０-９]{{3}}(?!\d))|．(?=\d))){_LETTER}+)*"
    r"(?:%|‰|°[CF]?|[+#]{1,2})?"
    r"|(?<![%$€£¥+=@&])[%$€£¥+=@&](?![%$€£¥+=@&])"
)

_SOUND = re.compile(r"\w|[$€£¥+=@&%]")
_VOWELS = re.compile("[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿœ]+", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
SHORT_WORD = 3
"""Longer words that end in an "e" do not sound it."""

WORD_MS = 65
SYLLABLE_MS = 68
LETTER_MS = 21
CLAUSE_PAUSE_MS = 360
LAST_WORD_MS = 160
"""A word, each of its syllables and letters, a mark inside the segment, and how much slower the
last word is: a least-squares fit to the embedded voice's speech."""
STOP_PAUSE_MS = 500
DIGIT_MS = 230
SPELT_LETTER_MS = 170
SYMBOL_MS = 300
CHARACTER_MS = 200
"""Reasoned from these: "seven" has two syllables, "percent" too; Mandarin has five a second."""

TAIL_SAMPLES = 6_000
"""The last 250 ms of a segment are the pause that follows a sentence."""


def _words(segment: Segment) -> list[tuple[str, int, int]]:
    """``(text, begin, end)`` of each word, in the segment's source.

    A Han character or a kana is a word; otherwise a word runs to the next blank or mark, and
    amounts, times, addresses and names with dots in them are whole. What is not spoken (a face, a
    control token) is none.
    """
    heard = bytearray(len(segment.source))
    marks = [range(*found.span()) for found in SILENT.finditer(segment.source)]
    for span in segment.spans:
        if not _SOUND.search(segment.text, span.begin, span.end):
            continue
        heard[span.source_begin : span.source_end] = b"\1" * (span.source_end - span.source_begin)
    return [
        (match.group(), match.start(), match.end())
        for match in _WORD.finditer(segment.source)
        if match.group().strip("_")
        and (not segment.spans or any(heard[match.start() : match.end()]))
        and not any(match.start() in mark for mark in marks)
    ]


def _lengths_ms(segment: Segment, words: list[tuple[str, int, int]]) -> list[int]:
    """How long each of the words takes at an ordinary pace, with the pause after it."""
    lengths_ms = [_said_ms(text) for text, _, _ in words]
    if segment.spans:
        lengths_ms = _spoken_ms(segment, words, lengths_ms)
    for index, ((_, _, end), (_, begin, _)) in enumerate(pairwise(words)):
        lengths_ms[index] += _pause_ms(segment.source[end:begin])
    lengths_ms[-1] += LAST_WORD_MS
    return lengths_ms


def usual_samples(segment: Segment) -> int:
    """About how long the segment is when spoken at speed 1, at 24 kHz."""
    words = _words(segment)
    if not words:
        return 0
    return TAIL_SAMPLES + round(sum(_lengths_ms(segment, words)) * SAMPLE_RATE / 1000)


def estimate_words(segment: Segment, start_samples: int, samples: int) -> tuple[Word, ...]:
    """The words with the times they are heard, filling the segment's audio without a gap.

    ``start_samples`` is where the segment's audio begins in the context, ``samples`` its length.
    """
    words = _words(segment)
    if not words:
        return ()
    lengths_ms = _lengths_ms(segment, words)
    pace = max(samples - TAIL_SAMPLES, samples // 2) / sum(lengths_ms)
    borders = [
        start_samples + round(pace * reached) for reached in accumulate(lengths_ms, initial=0)
    ]
    borders[-1] = start_samples + samples
    return tuple(
        Word(
            text=text,
            char_start=segment.char_start + begin,
            char_end=segment.char_start + end,
            start_samples=borders[index],
            end_samples=borders[index + 1],
        )
        for index, (text, begin, end) in enumerate(words)
    )


def _spoken_ms(
    segment: Segment, words: list[tuple[str, int, int]], written_ms: list[int]
) -> list[int]:
    """How long each word takes as it is spoken, not as it is written.

    What stands for several words (``$2.7 billion``) is shared out by the length of their writing.
    """
    said = [""] * len(words)
    shared_ms = [0] * len(words)
    first = 0
    for span in segment.spans:
        while first < len(words) and words[first][2] <= span.source_begin:
            first += 1
        meant = (
            [index for index in range(first, len(words)) if words[index][1] < span.source_end]
            if span.source_begin < span.source_end
            else []
        )
        text = segment.text[span.begin : span.end]
        if len(text) == span.source_end - span.source_begin:
            for index in meant:
                begin, end = (max(0, at - span.source_begin) for at in words[index][1:])
                said[index] += text[begin:end]
        elif meant:
            spoken_ms = _phrase_ms(text)
            whole_ms = sum(written_ms[index] for index in meant)
            for index in meant:
                shared_ms[index] += spoken_ms * written_ms[index] // whole_ms
    return [
        max(1, (_phrase_ms(text) if text else 0) + shared)
        for text, shared in zip(said, shared_ms, strict=True)
    ]


def _phrase_ms(text: str) -> int:
    said_ms = sum(_said_ms(match.group()) for match in _WORD.finditer(text))
    return said_ms + CLAUSE_PAUSE_MS * len(re.findall("[,，]", text))


def _said_ms(word: str) -> int:
    """How long the word takes to say at an ordinary pace."""
    if re.match(f"[{_UNSPACED}]", word):
        return CHARACTER_MS
    parts = _LETTERS.findall(word)
    digits = sum(char.isdecimal() for char in word)
    symbols = sum(not char.isalnum() and char not in "'’,-_" for char in word)
    return WORD_MS + DIGIT_MS * digits + SYMBOL_MS * symbols + sum(map(_letters_ms, parts))


def _letters_ms(letters: str) -> int:
    if len(letters) > 1 and letters.isupper() and letters.isascii():
        return SPELT_LETTER_MS * len(letters)
    silent = letters.endswith("e") and len(letters) > SHORT_WORD
    syllables = max(1, len(_VOWELS.findall(letters)) - silent)
    return SYLLABLE_MS * syllables + LETTER_MS * len(letters)


def _pause_ms(gap: str) -> int:
    if re.search("[.!?。！？…\n]", gap):
        return STOP_PAUSE_MS
    return CLAUSE_PAUSE_MS if re.search("[,;:，；：—、()（）]", gap) else 0
