"""Chinese characters to words of syllables: which reading, and where a word ends.

A phrase in pypinyin's dictionary settles its characters, then rules look at what stands beside one,
then the commonest reading counts. Words are rjieba's. Knows: those two packages. Does not know:
tone sandhi, Latin letters, digits, marks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import rjieba
from pypinyin import Style, lazy_pinyin
from pypinyin.constants import PHRASES_DICT
from pypinyin.seg.mmseg import seg as phrases

from streaming.errors import UnsupportedLanguage
from streaming.runners.mandarin import polyphones
from streaming.runners.mandarin.syllable import NEUTRAL, HanWord, Syllable, parse

_PERSON = "nr"
_REPEAT = "々"


def read(text: str) -> list[HanWord]:
    """The words of a run of Chinese characters, in the tones of the dictionary.

    Raises:
        UnsupportedLanguage: a character has no reading.
    """
    for position, char in enumerate(text):
        if char == _REPEAT:
            text = text[:position] + text[max(0, position - 1)] + text[position + 1 :]
    pinyin = _spell(text)
    words = []
    begin = 0
    for word, kind in rjieba.tag(text):
        end = begin + len(word)
        own = _own_reading(word, kind)
        pinyin[begin : begin + len(own)] = own
        spelled = pinyin[begin:end]
        words.append(HanWord(word, tuple(_syllables(text, begin, spelled))))
        begin = end
    return [word for word in words if word.syllables]


def _spell(text: str) -> list[str]:
    """Pinyin a character, from the longest phrases and from what stands beside lone ones."""
    pinyin = _look_up(text)
    if len(pinyin) != len(text):
        raise UnsupportedLanguage(f"the voice knows no reading of {_unreadable(text)!r}")
    position = 0
    for phrase in phrases.cut(text):
        if phrase not in PHRASES_DICT:
            for place in range(position, position + len(phrase)):
                pinyin[place] = polyphones.settle(text, place) or pinyin[place]
        position += len(phrase)
    return pinyin


def _look_up(text: str) -> list[str]:
    pinyin: list[str] = lazy_pinyin(
        text, style=Style.TONE3, neutral_tone_with_five=True, errors="ignore"
    )
    return pinyin


def _unreadable(text: str) -> str:
    return "".join(char for char in text if not _look_up(char))


def _own_reading(word: str, kind: str) -> list[str]:
    """What a word says of its readings whatever stands beside it; may be shorter than the word."""
    if word in polyphones.WORDS:
        return polyphones.WORDS[word].split()
    if len(word) > 1 and word in PHRASES_DICT:
        return _look_up(word)
    if kind == _PERSON and len(word) > 1 and word[0] in polyphones.SURNAMES:
        return [polyphones.SURNAMES[word[0]]]
    return []


def _syllables(text: str, begin: int, pinyin: list[str]) -> Iterator[Syllable]:
    """``pinyin`` parsed, light syllables made light, an 儿 grown onto what is before it."""
    end = begin + len(pinyin)
    light = text[begin:end] in polyphones.LIGHT_SECOND
    for offset, spelled in enumerate(pinyin):
        place = begin + offset
        if text[place] == "儿" and offset and polyphones.grows_onto(text, place):
            continue
        syllable = parse(spelled)
        if light and offset == 1:
            syllable = replace(syllable, tone=NEUTRAL)
        grown = place + 1 < end and text[place + 1] == "儿"
        if grown and polyphones.grows_onto(text, place + 1):
            syllable = replace(syllable, rhotic=True)
        yield syllable
