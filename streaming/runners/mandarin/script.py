# ruff: noqa: RUF001 - Chinese text is meant
"""Text to words that can be spoken: Chinese ones, English ones, and the marks between them.

Numbers come here already written as words, by the text front end. Where it did not, digits are
read one by one and signs by name, so that nothing is left out unheard. Knows: which characters are
of which script. Does not know: how a model is fed, where speech may be cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hibari.g2p import G2P

from streaming.runners.arpabet import to_misaki
from streaming.runners.english import prepare_segment
from streaming.runners.mandarin import reading, sandhi
from streaming.runners.mandarin.ipa import to_ipa
from streaming.runners.mandarin.pieces import Word
from streaming.runners.mandarin.syllable import HanWord, Syllable, parse
from streaming.segment import Pronunciation, Segment

_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff〇々"
_MARKS = {
    **dict.fromkeys("，、,（）()【】[]《》<>〈〉", ","),
    **dict.fromkeys("。．.", "."),
    **dict.fromkeys("；;", ";"),
    **dict.fromkeys("：:", ":"),
    **dict.fromkeys("！!", "!"),
    **dict.fromkeys("？?", "?"),
    **dict.fromkeys("…", "…"),
    **dict.fromkeys("—", "—"),
}
_WEIGHT = ",:;—….!?"
"""Of several marks in a row the last of these is spoken."""

LONGEST_WORD_BEATS = 8
GROUP_BEATS = 4

_READ = str.maketrans(
    dict(zip("0123456789", "零一二三四五六七八九", strict=True))
    | {
        "の": "的",
        "%": "百分号",
        "％": "百分号",
        "‰": "千分号",
        "$": "美元",
        "＄": "美元",
        "£": "英镑",
        "€": "欧元",
        "¥": "元",
        "￥": "元",
        "&": "和",
        "＆": "和",
        "+": "加",
        "＋": "加",
        "=": "等于",
        "＝": "等于",
        "×": "乘",
        "÷": "除以",
        "@": "艾特",
        "＠": "艾特",
        "°": "度",
        "℃": "摄氏度",
        "℉": "华氏度",
        "²": "平方",
        "³": "立方",
        "½": "二分之一",
        "¼": "四分之一",
        "¾": "四分之三",
    }
)
_POINT = re.compile(r"(?<=\d)[.．](?=\d)")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_WIDE = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF5B))}
_TOKEN = re.compile(rf"(?P<han>[{_HAN}]+)|(?P<latin>[^\W_{_HAN}]+(?:['’.&\- ]*[^\W_{_HAN}]+)*)")
_LATIN = re.compile("[A-Za-z]")
_LETTER_A = "ˈA"
_VOWELS = re.compile("[aeiouæɑɔəɛɜɪʊʌᵊᵻAIOQWY]")


class Script:
    """Text to words; English by the G2P of the embedded voices."""

    def __init__(self) -> None:
        self._g2p = G2P(british=False)
        self._letters = frozenset(self._g2p.oov.cin)

    def words(
        self, text: str, language: str = "", said: Sequence[Pronunciation] = ()
    ) -> list[Word]:
        """The words of a segment; English through and through where it has no Chinese character.

        ``said`` are stretches of the text whose phones are given.

        Raises:
            Foreign: letters of another script.
            UnsupportedLanguage: a character has no reading.
        """
        if not re.search(f"[{_HAN}]", text) and (_LATIN.search(text) or language == "en"):
            return self._english(text, said)
        tokens: list[HanWord | Word | str] = []
        at = 0
        for each in said:
            if each.begin < at:
                continue
            tokens += self._plain(text[at : each.begin])
            tokens += _said(text[each.begin : each.end], each)
            at = each.end
        return _join([*tokens, *self._plain(text[at:])])

    def _english(self, text: str, said: Sequence[Pronunciation] = ()) -> list[Word]:
        segment = Segment(
            index=0, text=text, source=text, char_start=0, char_end=len(text), ending="end",
            pronunciations=tuple(said),
        )  # fmt: skip
        return _english(self._g2p(prepare_segment(segment, self._letters, british=False)))

    def _plain(self, text: str) -> Iterator[HanWord | Word | str]:
        plain = _GROUPED.sub("", text.translate(_WIDE))
        plain = _POINT.sub("点", plain).translate(_READ)
        return self._tokens(plain)

    def _tokens(self, text: str) -> Iterator[HanWord | Word | str]:
        position = 0
        for found in _TOKEN.finditer(text):
            yield from _marks(text[position : found.start()])
            if found.group("han"):
                yield from reading.read(found.group())
            else:
                yield from self._latin(found.group())
            position = found.end()
        yield from _marks(text[position:])

    def _latin(self, text: str) -> list[Word]:
        """English within Chinese; a lone A is the letter, not the article."""
        if text in {"A", "a"}:
            return [Word(_LETTER_A, 1)]
        return self._english(text)


def _said(text: str, said: Pronunciation) -> list[HanWord | Word | str]:
    """A word by the phones that were given for it."""
    if said.alphabet == "arpabet":
        sounds = to_misaki(said.phones)
        return [Word(sounds, len(_VOWELS.findall(sounds)) or 1)]
    return [HanWord(text, tuple(parse(syllable) for syllable in said.phones.split()))]


def _marks(text: str) -> list[str]:
    return [_MARKS[char] for char in text if char in _MARKS]


def _english(phonemes: str) -> list[Word]:
    words = []
    for part in phonemes.split():
        sounds = part.rstrip("".join(_MARKS.values())).strip("\"“”'()")
        marks = [char for char in part if char in _WEIGHT]
        if any(char.isalpha() for char in sounds):
            words.append(Word(sounds, len(_VOWELS.findall(sounds)) or 1, _strongest(marks)))
    return words


def _strongest(marks: Sequence[str]) -> str:
    return max(marks, key=_WEIGHT.index, default="")


def _join(tokens: Sequence[HanWord | Word | str]) -> list[Word]:
    """Tones of running speech between marks, then marks onto the words before them."""
    words: list[Word] = []
    row: list[HanWord] = []
    for token in (*tokens, None):
        if isinstance(token, HanWord):
            row.append(token)
            continue
        words += _han(row)
        row = []
        if isinstance(token, Word):
            words.append(token)
        elif token and words:
            last = words[-1]
            words[-1] = replace(last, mark=_strongest([last.mark, token] if last.mark else [token]))
    return words


def _han(row: Sequence[HanWord]) -> list[Word]:
    return [
        Word("".join(to_ipa(syllable) for syllable in group), len(group))
        for word in sandhi.apply(row)
        for group in _groups(word)
    ]


def _groups(word: tuple[Syllable, ...]) -> Iterator[tuple[Syllable, ...]]:
    """A word; a row of digits or of laughter, which counts as one too, in parts."""
    size = len(word) if len(word) <= LONGEST_WORD_BEATS else GROUP_BEATS
    for begin in range(0, len(word), size):
        yield word[begin : begin + size]
