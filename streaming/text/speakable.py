# ruff: noqa: RUF001 - full-width twins are meant
"""What in a text can be spoken, in which script, and in which language as far as letters tell.

Knows: code points. Does not know: segments, contexts, what any voice can do.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from streaming.languages import primary
from streaming.text.latin import english_words, other_than_english

SPOKEN_SYMBOLS = "%‰$€£¥￥＄％＋＝＠＆@&+="
"""Symbols that are read out; a lone one is a word, a row of them is a drawn line."""

WORD_START = re.compile(rf"[^\W_]|[{re.escape(SPOKEN_SYMBOLS)}]")
"""The first character that may belong to something spoken."""

WORD = re.compile(
    rf"[^\W_]|(?<![{re.escape(SPOKEN_SYMBOLS)}])[{re.escape(SPOKEN_SYMBOLS)}]"
    rf"(?![{re.escape(SPOKEN_SYMBOLS)}])"
)
"""The first character that does: a letter, a digit, or a symbol that stands alone."""

LEAD_LIMIT = 8
"""So many marks before a word that touch it (an opening quote, a minus sign) are spoken with it."""

PICTOGRAPH = re.compile(
    "[\u200d\ufe0e\ufe0f\u20e3\u231a\u231b\u23e9-\u23fa\u25aa\u25ab\u25fb-\u25fe\u2600-\u2775"
    "\u2794-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)
"""One code point of an emoji: pictures, flags, skin tones, and what joins or dresses them."""

EMOJI = re.compile(
    "[\u231a\u231b\u23e9-\u23fa\u25aa\u25ab\u25fb-\u25fe\u2600-\u2775\u2794-\u27bf\u2b05-\u2b55"
    f"\U0001f000-\U0001faff]{PICTOGRAPH.pattern}*|[\ufe0e\ufe0f\u20e3]"
)
EMOJI_BEFORE_MARK = re.compile(rf"(?:\s*+(?>{EMOJI.pattern}))++\s*+(?=[,.!?;:，。！？；：、])")
"""Nothing is given back: there are twice as many ways to part a row of emoji with each one more."""

INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")

_GREEK_WORD = re.compile("[\u0370-\u03ff\u1f00-\u1fff]{2}")
_SCRIPT_OF_NAME = {
    "CJK": "han",
    "IDEOGRAPHIC": "han",
    "HIRAGANA": "kana",
    "KATAKANA": "kana",
    "KATAKANA-HIRAGANA": "kana",
}
_LATIN_TAGS_ELSEWHERE = frozenset({"zh", "ja", "ko", "ru", "uk", "ar", "el", "he", "hi", "th"})


def has_words(text: str) -> bool:
    """Whether anything here is spoken: a letter, a digit, or a lone symbol such as ``%``."""
    return WORD.search(text if text.isascii() else INVISIBLE.sub("", text)) is not None


def lead(text: str, word: int, start: int) -> int:
    """Where the marks begin that are spoken with the word at ``word``; not before ``start``."""
    lowest = max(start, word - LEAD_LIMIT)
    while word > lowest and not text[word - 1].isspace():
        word -= 1
    return word


def spoken_text(source: str) -> str:
    """The source as a model is to get it: emoji and invisible marks gone, white space folded."""
    if not source.isascii():
        source = INVISIBLE.sub("", source)
        source = EMOJI.sub(" ", EMOJI_BEFORE_MARK.sub("", source))
    return _BLANKS.sub(" ", source).strip()


def scripts(text: str) -> set[str]:
    """The scripts of the letters in it: ``latin``, ``han``, ``kana``, ``cyrillic`` and so on."""
    found = {_script(char) for char in set(text) if not char.isascii()}
    if re.search("[A-Za-z]", text):
        found.add("latin")
    found.discard("")
    if "greek" in found and not _GREEK_WORD.search(text):
        found.discard("greek")  # a letter of a formula
    return found


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    if not char.isalpha():
        return ""
    words = [word for word in unicodedata.name(char, "").split() if word not in _WIDTH_WORDS]
    first = words[0] if words else ""
    return _SCRIPT_OF_NAME.get(first, "" if first == "MODIFIER" else first.lower())


_WIDTH_WORDS = frozenset({"FULLWIDTH", "HALFWIDTH"})


def guess_language(text: str, named: str, seen: str = "") -> str:
    """The primary tag that the letters tell, else ``named`` or ``seen`` (``""``: nothing known).

    ``named`` is what the client said, ``seen`` what was guessed before. One kana makes a text
    Japanese; Han characters without kana are Chinese, unless Japanese or Korean was named or seen,
    which write with them too. Latin letters are English unless another language that uses them was
    named, or its small words are there: German that was named is never taken away.
    """
    named = primary(named)
    default = named or primary(seen)
    found = scripts(text)
    if "kana" in found:
        return "ja"
    if "hangul" in found:
        return "ko"
    if "han" in found:
        return default if default in {"ja", "ko", "yue"} else "zh"
    if found == {"latin"}:
        return _latin(text, named, default)
    return "" if found and default in {"en", "zh", "ja", "ko"} else default


def _latin(text: str, named: str, default: str) -> str:
    if named and named not in _LATIN_TAGS_ELSEWHERE:
        return named
    told = other_than_english(text)
    goes_on = default and default not in _LATIN_TAGS_ELSEWHERE and not english_words(text)
    return told or (default if goes_on else "en")


def foreign_letters(text: str) -> bool:
    """Whether most letters are of scripts that neither English nor Chinese is written in."""
    letters = [_script(char) or "latin" for char in text if char.isalpha()]
    foreign = sum(script not in {"latin", "han", "greek"} for script in letters)
    return foreign * 2 > len(letters)
