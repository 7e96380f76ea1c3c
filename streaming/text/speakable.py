# ruff: noqa: RUF001 - full-width twins are meant
"""What in a text can be spoken, in which script, and in which language as far as letters tell.

Knows: code points. Does not know: segments, contexts, what any voice can do.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

SPOKEN_SYMBOLS = "%‰$€£¥￥＄％＋＝＠＆@&+="
"""Symbols that are read out; a lone one is a word, a row of them is a drawn line."""

WORD_START = re.compile(rf"[^\W_]|[{re.escape(SPOKEN_SYMBOLS)}]")
"""The first character that may belong to something spoken."""

_WORD = re.compile(
    rf"[^\W_]|(?<![{re.escape(SPOKEN_SYMBOLS)}])[{re.escape(SPOKEN_SYMBOLS)}]"
    rf"(?![{re.escape(SPOKEN_SYMBOLS)}])"
)

PICTOGRAPH = re.compile(
    "[\u200d\ufe0e\ufe0f\u20e3\u231a\u231b\u23e9-\u23fa\u25aa\u25ab\u25fb-\u25fe\u2600-\u2775"
    "\u2794-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)
"""One code point of an emoji: pictures, flags, skin tones, and what joins or dresses them."""

EMOJI = re.compile(
    "[\u231a\u231b\u23e9-\u23fa\u25aa\u25ab\u25fb-\u25fe\u2600-\u2775\u2794-\u27bf\u2b05-\u2b55"
    f"\U0001f000-\U0001faff]{PICTOGRAPH.pattern}*|[\ufe0e\ufe0f\u20e3]"
)
EMOJI_BEFORE_MARK = re.compile(rf"(?:\s*(?:{EMOJI.pattern}))+\s*(?=[,.!?;:，。！？；：、])")
INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")

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
    return _WORD.search(text if text.isascii() else INVISIBLE.sub("", text)) is not None


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
    return found


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    if not char.isalpha():
        return ""
    words = [word for word in unicodedata.name(char, "").split() if word not in _WIDTH_WORDS]
    first = words[0] if words else ""
    return _SCRIPT_OF_NAME.get(first, "" if first == "MODIFIER" else first.lower())


_WIDTH_WORDS = frozenset({"FULLWIDTH", "HALFWIDTH"})


def guess_language(text: str, default: str) -> str:
    """The primary tag that the letters tell, else ``default`` (``""`` where nothing is known).

    One kana makes a text Japanese; Han characters without kana are Chinese, unless ``default`` is
    Japanese or Korean, which write with them too. Latin letters are English, unless ``default``
    is another language that uses them: German is never guessed, and never taken away.
    """
    default = default.partition("-")[0].lower()
    found = scripts(text)
    if "kana" in found:
        return "ja"
    if "hangul" in found:
        return "ko"
    if "han" in found:
        return default if default in {"ja", "ko", "yue"} else "zh"
    if found == {"latin"}:
        return "en" if not default or default in _LATIN_TAGS_ELSEWHERE else default
    return "" if found and default in {"en", "zh", "ja", "ko"} else default
