"""The tones of running speech: 一, 不, and third tones in a row.

Works on the words between two pauses. Third tones are grouped in feet: a word is one, single
syllables pair up from the left, one that is left over joins what follows it, or what came before;
within a foot every third tone before another becomes a second. Knows: those rules. Does not know:
where readings come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streaming.runners.mandarin.syllable import NEUTRAL, HanWord, Syllable

_DIGITS = frozenset("零〇一二两三四五六七八九幺")
_BEFORE_PLAIN_ONE = frozenset("零〇十百千万亿二三四五六七八九第初周之点")
_PLAIN_ONE_BEFORE = frozenset("月日号楼级班等")
_FOOT = 2


def apply(words: Sequence[HanWord]) -> list[tuple[Syllable, ...]]:
    """The syllables of each word as they are spoken in that row."""
    syllables = [syllable for word in words for syllable in word.syllables]
    chars = [char for word in words for char in _characters(word)]
    ends = _word_ends(words)
    for place, char in enumerate(chars):
        if char == "一":
            syllables[place] = _one(chars, syllables, place, ends)
        elif char == "不" and _next_tone(syllables, place) == 4:  # noqa: PLR2004 - a tone's name
            syllables[place] = replace(syllables[place], tone=2)
    for foot in _feet([len(word.syllables) for word in words], syllables):
        _raise_thirds(syllables, foot)
    spoken = iter(syllables)
    return [tuple(next(spoken) for _ in word.syllables) for word in words]


def _characters(word: HanWord) -> str:
    """One a syllable; an 儿 that has grown onto one has none."""
    if len(word.text) == len(word.syllables):
        return word.text
    return "".join(char for index, char in enumerate(word.text) if char != "儿" or not index).ljust(
        len(word.syllables), "儿"
    )[: len(word.syllables)]


def _word_ends(words: Sequence[HanWord]) -> set[int]:
    """Places of the last syllables of words that have more than one."""
    ends = set()
    place = 0
    for word in words:
        place += len(word.syllables)
        if len(word.syllables) > 1:
            ends.add(place - 1)
    return ends


def _next_tone(syllables: Sequence[Syllable], place: int) -> int | None:
    return syllables[place + 1].tone if place + 1 < len(syllables) else None


def _one(
    chars: Sequence[str], syllables: Sequence[Syllable], place: int, ends: set[int]
) -> Syllable:
    one = syllables[place]
    before = chars[place - 1] if place else ""
    after = chars[place + 1] if place + 1 < len(chars) else ""
    if before and before == after:
        return replace(one, tone=NEUTRAL)  # 看一看
    counted = after in _DIGITS or after in _PLAIN_ONE_BEFORE or before in _BEFORE_PLAIN_ONE
    if not after or counted or (place in ends and before not in _DIGITS):
        return replace(one, tone=1)
    rises = after == "个" or syllables[place + 1].tone == 4  # noqa: PLR2004 - a tone's name
    return replace(one, tone=2 if rises else 4)


def _feet(lengths: Sequence[int], syllables: Sequence[Syllable]) -> list[range]:
    feet: list[range] = []
    begin = 0
    lone: int | None = None
    for length in lengths:
        end = begin + length
        if length == 1 and lone is None:
            lone = begin
        elif length == 1:
            feet.append(range(begin - 1, end))
            lone = None
        elif lone is not None:
            feet.append(range(lone, end))
            lone = None
        else:
            feet += _halves(begin, end)
        begin = end
    if lone is not None:
        joined = feet.pop() if feet and _third(syllables, lone) else range(lone, lone)
        feet.append(range(joined.start, lone + 1))
    return feet


def _halves(begin: int, end: int) -> list[range]:
    """A word of up to three syllables is whole; a longer one is spoken in pairs."""
    if end - begin <= _FOOT + 1:
        return [range(begin, end)]
    middle = begin + _FOOT
    return [range(begin, middle), *_halves(middle, end)]


def _third(syllables: Sequence[Syllable], place: int) -> bool:
    return syllables[place].tone == 3  # noqa: PLR2004 - a tone's name


def _raise_thirds(syllables: list[Syllable], foot: range) -> None:
    for place in foot[:-1]:
        if _third(syllables, place) and _third(syllables, place + 1):
            syllables[place] = replace(syllables[place], tone=2)
