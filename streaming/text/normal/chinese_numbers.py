"""Numbers in Chinese words.

Knows: how numbers are said. Does not know: where they stand.
"""

from __future__ import annotations

import re
from decimal import Decimal

_DIGITS = "零一二三四五六七八九"
_PHONE_DIGITS = "零幺二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_SCALES = ("", "万", "亿", "万亿")
LONGEST_CARDINAL = 16
"""Digits; longer numbers are read digit by digit."""

_TWO_FIRST = re.compile("^二(?=[百千万亿])|(?<=零)二(?=千)|(?<=[万亿])二(?=千)")


def cardinal(value: int) -> str:
    """``1200``: 一千二百, ``200``: 两百, ``10``: 十, ``105``: 一百零五."""
    if value < 0:
        return "负" + cardinal(-value)
    if not value:
        return "零"
    said, below = "", False
    groups = [(value // 10_000**index) % 10_000 for index in range(len(_SCALES))]
    for index in reversed(range(len(_SCALES))):
        group = groups[index]
        if not group:
            below = bool(said)
            continue
        gap = said and (below or group < 1000)
        said += ("零" if gap else "") + _group(group) + _SCALES[index]
        below = False
    said = said.replace("万亿亿", "万亿")
    return _TWO_FIRST.sub("两", re.sub("^一十", "十", said))


def _group(value: int) -> str:
    said, gap = "", False
    for place in reversed(range(4)):
        digit = value // 10**place % 10
        if digit:
            said += ("零" if gap and said else "") + _DIGITS[digit] + _PLACES[place]
            gap = False
        else:
            gap = True
    return said


def digits(text: str) -> str:
    """One by one: ``2016`` is 二零一六."""
    return "".join(_DIGITS[int(char)] for char in text if char.isdecimal())


def phone_digits(text: str) -> str:
    """The same with 幺 for one, as on the telephone."""
    return "".join(_PHONE_DIGITS[int(char)] for char in text if char.isdecimal())


def number(text: str, minus: str = "负") -> str:
    """A written number, with commas, a decimal point or a sign: ``-12,350.50``."""
    sign = minus if text[:1] in {"-", "−"} else "正" if text[:1] == "+" else ""
    whole, _, rest = text.lstrip("+-−").replace(",", "").partition(".")
    whole = whole or "0"
    if len(whole) > LONGEST_CARDINAL:
        said = by_fours(whole)
    elif len(whole) > 1 and whole.startswith("0"):
        said = digits(whole)
    else:
        said = cardinal(int(whole or "0"))
    return f"{sign}{said}点{digits(rest)}" if rest else sign + said


def scaled(text: str, power: int) -> str:
    """A written number times a power of ten: ``3.5`` thousand is 三千五百."""
    value = Decimal(text.replace(",", "")).scaleb(power)
    return number(f"{value:f}") if value % 1 else cardinal(int(value))


def amount(text: str) -> str:
    """As ``number``, without the noughts at a price's end: ``2,350.00`` is 两千三百五十."""
    return number(re.sub(r"\.?0+$", "", text) if "." in text else text)


def count(text: str) -> str:
    """As ``number``, before a measure word: 2个 is 两个."""
    return "两" if text == "2" else number(text)


def by_fours(text: str, *, phone: bool = False) -> str:
    """A long run of digits by fours, with a pause between."""
    only = "".join(char for char in text if char.isdecimal())
    say = phone_digits if phone else digits
    return "，".join(say(only[at : at + 4]) for at in range(0, len(only), 4))
