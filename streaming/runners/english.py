"""Text on its way to the embedded English voice: what it cannot take is said, dropped or broken up.

Knows: which characters that voice has a sound for, and what makes it stumble: digit runs past its
number words, words past its letter-to-sound net, its own markup. Does not know: how it sounds;
numbers and abbreviations in general (the voice and the text front end read those).
"""
# ruff: noqa: RUF001 - letters that look like others are meant

from __future__ import annotations

import re
import unicodedata

from streaming.runners.arpabet import to_misaki
from streaming.segment import Segment

LONGEST_NUMBER_DIGITS = 12
"""Longer numbers are read digit by digit, in groups of four; past 36 the voice has no words."""

LONGEST_WORD_CHARS = 20
"""The letter-to-sound net drops what is past 24 letters."""

_LONG_NUMBER = re.compile(rf"(?<!\d\.)(?<!\d)\d[\d,]{{{LONGEST_NUMBER_DIGITS - 1},}}\d")
_LONG_WORD = re.compile(rf"[^\W\d_]{{{LONGEST_WORD_CHARS}}}(?=[^\W\d_])")
_GROUP_DIGITS = 4
_RENAMED = str.maketrans(
    {"。": ".", "、": ",", "℃": "°C", "℉": "°F", "‰": " per mille"}
    | dict.fromkeys("「」『』《》", '"')
)
_KEPT_NUMBERS = frozenset("²³¼½¾")
_LETTERLIKE = frozenset(map(chr, range(0x2100, 0x2150)))
"""Signs of formulas and trade: those that are no plain letter go, as emoji do."""
_KEPT_SYMBOLS = frozenset("°")
_LONE_CURRENCY = re.compile(r"(?<![\d\w])[$£€¥](?!\s?[\d.])")
_CURRENCIES = {"$": " dollars ", "£": " pounds ", "€": " euros ", "¥": " yen "}
_LETTER_A = re.compile(r"\bA(?= [A-Z]\b(?!'))|(?<=\b[A-Z] )A\b")
_LATIN = re.compile(r"LATIN (?:SMALL|CAPITAL) (?:LETTER|LIGATURE) (?:DOTLESS )?([A-Z]{1,2})\b")
_SCRIPTS = {
    "CJK": ("Chinese characters", "zh"),
    "IDEOGRAPHIC": ("Chinese characters", "zh"),
    "HIRAGANA": ("Japanese characters", "ja"),
    "KATAKANA": ("Japanese characters", "ja"),
    "KATAKANA-HIRAGANA": ("Japanese characters", "ja"),
    "HANGUL": ("Korean characters", "ko"),
}


class Foreign(Exception):
    """The text holds ``letters`` of a ``script`` that the voice has no sound for.

    ``language`` is the primary tag where the letters tell it, or empty.
    """

    def __init__(self, letters: str, script: str, language: str) -> None:
        super().__init__(f"{script}: {letters}")
        self.letters = letters
        self.script = script
        self.language = language


def prepare_segment(segment: Segment, known_letters: frozenset[str], *, british: bool) -> str:
    """As ``prepare``, with the phones that the segment gives in place of its words.

    Raises:
        Foreign: letters of another script, where no phones stand for them.
    """
    text, parts, at = segment.text, [], 0
    for said in segment.pronunciations:
        if said.alphabet != "arpabet" or said.begin < at:
            continue
        parts.append(prepare(text[at : said.begin], known_letters))
        parts.append(_marked(to_misaki(said.phones, british=british)))
        at = said.end
    return "".join([*parts, prepare(text[at:], known_letters)])


def _marked(phonemes: str) -> str:
    """The voice's own markup for a word that is said so."""
    return f"[word](/{phonemes}/)" if phonemes else ""


def prepare(text: str, known_letters: frozenset[str]) -> str:
    """The text with nothing in it that the voice would choke on.

    ``known_letters`` are those that its letter-to-sound net was made for; accented ones that it
    lacks lose their accent, emoji and other pictures go.

    Raises:
        Foreign: letters of another script.
    """
    text = unicodedata.normalize("NFC", text).translate(_RENAMED)
    foreign = "".join(char for char in text if _is_foreign(char))
    if foreign:
        raise _foreign(foreign)
    text = "".join(_simplify(char, known_letters) for char in _name_greek(text))
    text = _LONE_CURRENCY.sub(lambda found: _CURRENCIES[found.group()], text)
    text = text.replace("](", "] (")  # the voice would take [a](b) for markup and drop b
    text = _LETTER_A.sub(_marked("ˈA"), text)  # it would take the letter for the article
    return _LONG_WORD.sub(r"\g<0> ", _LONG_NUMBER.sub(_spell_digits, text))


def _is_foreign(char: str) -> bool:
    if char.isascii() or not char.isalpha() or char in _LETTERLIKE:
        return False
    plain = unicodedata.normalize("NFKC", char)
    name = unicodedata.name(char, "") + unicodedata.name(plain[0], "")
    ours = ("LATIN", "GREEK", "MODIFIER")
    return not any(part.isascii() for part in plain) and not any(word in name for word in ours)


def _foreign(letters: str) -> Foreign:
    word = unicodedata.name(letters[0], "UNNAMED").split()[0]
    script, language = _SCRIPTS.get(word, (f"{word.capitalize()} letters", ""))
    return Foreign(letters, script, language)


_GREEK_WORD = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]{2,}")
_GREEK_NAME = re.compile(r"GREEK (?:SMALL|CAPITAL) LETTER (?:FINAL )?([A-Z]+)")


def _name_greek(text: str) -> str:
    """Greek letters by their names, as in formulas; a Greek word is foreign."""
    if word := _GREEK_WORD.search(text):
        raise Foreign(word.group(), "Greek letters", "el")
    return "".join(_greek_name(char) or char for char in text)


def _greek_name(char: str) -> str | None:
    if char.isascii() or char == "\N{MICRO SIGN}":  # the voice knows micrometres
        return None
    found = _GREEK_NAME.match(unicodedata.name(unicodedata.normalize("NFKC", char)[0], ""))
    return f" {found.group(1).lower()} " if found else None


def _simplify(char: str, known_letters: frozenset[str]) -> str:
    """One character as the voice can take it; a blank where it was a picture."""
    if char.isascii():
        return char if char.isprintable() else " "
    category = unicodedata.category(char)
    plain = unicodedata.normalize("NFKC", char).replace("\N{FRACTION SLASH}", "/")
    if category[0] == "N":
        return char if char in _KEPT_NUMBERS else _plain_number(char, plain)
    if category[0] == "L" and not plain.isascii():
        return char if char in known_letters else _plain_letters(char)
    if category[0] in "LP" or category in {"Sm", "Sc"} or char in _KEPT_SYMBOLS:
        return plain if (plain.isascii() or category == "Sc") and char != "…" else char
    return "" if category[0] == "M" else " "


def _plain_number(char: str, plain: str) -> str:
    """Digits of other scripts run on; numbers in circles stand alone."""
    if unicodedata.category(char) == "Nd":
        return str(unicodedata.decimal(char))
    value = unicodedata.numeric(char)
    return f" {plain if plain.isascii() else round(value)} "


def _plain_letters(char: str) -> str:
    folded = unicodedata.normalize("NFKD", char)
    plain = "".join(part for part in folded if part.isascii())
    if plain:
        return plain
    found = _LATIN.match(unicodedata.name(folded[0], ""))
    if found is None:
        return ""
    return found.group(1) if char.isupper() else found.group(1).lower()


def _spell_digits(found: re.Match[str]) -> str:
    digits = found.group().replace(",", "")
    if len(digits) <= LONGEST_NUMBER_DIGITS:
        return found.group()
    groups = [digits[i : i + _GROUP_DIGITS] for i in range(0, len(digits), _GROUP_DIGITS)]
    return ", ".join(" ".join(group) for group in groups)
