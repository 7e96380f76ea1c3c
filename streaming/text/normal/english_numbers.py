"""Numbers in English words, without hyphens and without "and".

Knows: how numbers are said. Does not know: where they stand.
"""

from __future__ import annotations

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ("", "", *["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
_SCALES = ("", "thousand", "million", "billion", "trillion", "quadrillion")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
LONGEST_CARDINAL = 15
"""Digits; longer numbers are read digit by digit."""


def cardinal(value: int) -> str:
    """``1250``: one thousand two hundred fifty."""
    if value < 0:
        return f"minus {cardinal(-value)}"
    groups: list[str] = []
    for scale in _SCALES:
        value, group = divmod(value, 1000)
        if group:
            groups.append(f"{_below_thousand(group)} {scale}".rstrip())
    return " ".join(reversed(groups)) or "zero"


def _below_thousand(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    words = [f"{_SMALL[hundreds]} hundred"] if hundreds else []
    if rest:
        words.append(_below_hundred(rest))
    return " ".join(words)


def _below_hundred(value: int) -> str:
    if value < len(_SMALL):
        return _SMALL[value]
    tens, ones = divmod(value, 10)
    return f"{_TENS[tens]} {_SMALL[ones]}" if ones else _TENS[tens]


def ordinal(value: int) -> str:
    """``31``: thirty first."""
    *before, last = cardinal(value).split()
    if last in _ORDINALS:
        last = _ORDINALS[last]
    else:
        last = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return " ".join([*before, last])


def plural(word: str) -> str:
    """``ninety``: nineties, ``hundred``: hundreds."""
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def digits(text: str) -> str:
    """One by one: ``007`` is zero zero seven."""
    return " ".join(_SMALL[int(char)] for char in text if char.isdecimal())


def grouped_digits(text: str) -> str:
    """A long run of digits by fours, with a comma's pause between."""
    only = "".join(char for char in text if char.isdecimal())
    return ", ".join(digits(only[at : at + 4]) for at in range(0, len(only), 4))


def year(value: int) -> str:
    """``1962``: nineteen sixty two, ``2005``: two thousand five, ``1900``: nineteen hundred."""
    century, rest = divmod(value, 100)
    if value % 1000 < 10:
        return cardinal(value)
    if not rest:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def number(text: str) -> str:
    """A written number, with commas, a decimal point or a sign: ``-12,350.50``."""
    sign = {"-": "minus ", "−": "minus ", "+": "plus "}.get(text[:1], "")
    whole, point, rest = text.lstrip("+-−").replace(",", "").partition(".")
    if len(whole) > LONGEST_CARDINAL:
        said = grouped_digits(whole)
    elif len(whole) > 1 and whole.startswith("0"):
        said = digits(whole)
    else:
        said = cardinal(int(whole or "0"))
    return f"{sign}{said} point {digits(rest)}" if point and rest else sign + said


def is_one(text: str) -> bool:
    """Whether what is counted by it stands in the singular."""
    return text.lstrip("+-−") in {"1", "1.0"}
