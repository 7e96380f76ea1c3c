"""English text as it is said.

Knows: the order in which constructs are looked for, each before those it contains. Does not know:
where the text came from.
"""

from __future__ import annotations

import re

from streaming.text.normal import english_math as maths
from streaming.text.normal import english_measures as measures
from streaming.text.normal import english_money as money
from streaming.text.normal import english_names as names
from streaming.text.normal import english_phones as phones
from streaming.text.normal import english_signs as signs
from streaming.text.normal import english_time as clock
from streaming.text.normal import roman
from streaming.text.normal.aligned import Aligned, Make
from streaming.text.normal.english_measures import signed
from streaming.text.normal.english_numbers import (
    cardinal,
    digits,
    grouped_digits,
    number,
    ordinal,
    year,
)

_N = money.NUMBER
_SIGN = r"(?:(?<![\w)\]])[-−+±])?"
_MONTHS = "|".join(clock.MONTHS)
_LONGEST_PLAIN = 12
_FIRST_YEAR, _LAST_YEAR = 1100, 2099
_HALVES = {2: "half", 4: "quarter"}
_SIMPLE_FRACTION = 20
_INCHES = 12
_BOOKS = "Genesis|Exodus|Leviticus|Numbers|Deuteronomy|Joshua|Judges|Ruth|Samuel|Kings|Chronicles|Psalms?|Proverbs|Ecclesiastes|Isaiah|Jeremiah|Ezekiel|Daniel|Matthew|Mark|Luke|John|Acts|Romans|Corinthians|Galatians|Ephesians|Philippians|Colossians|Hebrews|James|Peter|Revelation"
_COUNTED = "users|people|views|downloads|dollars|subscribers|followers|parameters|records|rows|tokens|lines|requests|customers|visitors|copies|units|jobs"
_VERSIONED = ("Windows", "iOS", "Android", "macOS", "Office", "Python", "Java")


def _ordinal(found: re.Match[str]) -> str:
    return ordinal(int(found[1].replace(",", "")))


def _lines(found: re.Match[str]) -> str:
    """``1080p``: ten eighty p."""
    high, low = divmod(int(found[1]), 100)
    return f"{cardinal(high)} {cardinal(low)} {found[2]}"


def _spaced(found: re.Match[str]) -> str:
    return number(re.sub("[ _]", "", found.group()))


def _verse(found: re.Match[str]) -> str:
    """``John 3:16``."""
    until = f" to {cardinal(int(found[4]))}" if found[4] else ""
    return f"{found[1]} {cardinal(int(found[2]))}, verse {cardinal(int(found[3]))}{until}"


def _millions(found: re.Match[str]) -> str:
    """``1.2M``, ``1B users``."""
    written, scale = found[1] or found[3], found[2] or found[4]
    return f"{number(written)} {'million' if scale == 'M' else 'billion'}"


def _dashed(found: re.Match[str]) -> str:
    """``Table 3-1``."""
    return f"{found[1]} {cardinal(int(found[2]))} dash {cardinal(int(found[3]))}"


def _is_year(written: str) -> bool:
    return len(written) == 4 and written.isdecimal() and _FIRST_YEAR <= int(written) <= _LAST_YEAR


def _range(found: re.Match[str]) -> str:
    low, high = found[1], found[2]
    if _is_year(low) and (_is_year(high) or len(high) == 2):
        until = year(int(high)) if len(high) == 4 else cardinal(int(high))
        return f"{year(int(low))} to {until}"
    return f"{number(low)}{' ' if low == high == '50' else ' to '}{number(high)}"


def _year(found: re.Match[str]) -> str | None:
    return year(int(found.group())) if _is_year(found.group()) else None


def _ratio(found: re.Match[str]) -> str:
    return f"{number(found[1])} to {number(found[2])}"


def _by(found: re.Match[str]) -> str:
    parts = re.findall(_N, found.group())
    return " by ".join(number(part) for part in parts)


def _mixed(found: re.Match[str]) -> str | None:
    letters, run = found[1], found[2]
    if letters.lower() == "e" and found.string[found.start() - 1 : found.start()].isdigit():
        return None
    said = digits(run) if len(run) > 2 or run.startswith("0") else cardinal(int(run))
    letter_follows = found.string[found.end() : found.end() + 1].isalpha()
    return f"{letters} {said}{' ' if letter_follows else ''}"


def _number(found: re.Match[str]) -> str:
    written = found.group()
    plain = written.lstrip("+-−±")
    after = " " if found.string[found.end() : found.end() + 1].isalpha() else ""
    before = " " if found.string[: found.start()][-1:].isalpha() else ""
    if len(plain) > _LONGEST_PLAIN and plain.isdigit():
        said = grouped_digits(plain)
    elif before and len(plain) > 2 and plain.isdigit():
        said = digits(plain)
    else:
        said = signed(written)
    return f"{before}{said}{after}"


_RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    *names.ADDRESSES,
    *maths.EARLY,
    *signs.ABOUT,
    *clock.DECADES,
    (re.compile(r"(?<![\w.-])(\d{1,3})-(for|to|in|on|by|of|and)-(\d{1,3})(?![\w-])"), lambda found: f"{found[1]} {found[2]} {found[3]}"),
    (re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+),(\d{2})(?![\d.,])"), lambda found: f"{found[1].replace('.', ',')}.{found[2]}"),
    (re.compile(r"(?<![\d.,])(\d+),(\d{2})(?=\s?(?:€|EUR|zł|kr)(?!\w))"), lambda found: f"{found[1]}.{found[2]}"),
    (re.compile(rf"(?<=\d)\s?(°[CF]|%|[kK]?m|kg|g|lbs?|GB|MB|ms|k|K|M|mph|cm|mm|ft|min|hours?|years?|days?)\s?[-–—]\s?(?={_N}\s?\1(?!\w))"), "–"),
    (re.compile(rf"\b((?:[123] )?(?:{_BOOKS}))\s(\d{{1,3}}):(\d{{1,3}})(?:[-–](\d{{1,3}}))?"), _verse),
    (money.MONEY, money.say_money),
    (money.TRAILING, money.say_trailing),
    (money.CENTS, money.say_cents),
    *clock.RULES,
    (re.compile(r"(?<![\w.,-])[1-9]\d{0,2}(?:[ _]\d{3}){2,5}(?![\w-]| \d|[.,]\d)"), _spaced),
    *phones.RULES,
    (re.compile(rf"((?:\b[Rr][au]n|\b[Rr]unning|\bthe|\ba)\s(?:a\s)?)({_N})[kK](?!\w)"), lambda found: f"{found[1]}{number(found[2])} K"),
    (re.compile(rf"(?<![\w.,$€£])({_N})(?:k|(?<=\d\d)K)(?!\w)"), lambda found: f"{number(found[1])} thousand"),
    *names.VERSIONS,
    *measures.RULES,
    *maths.POWERS,
    (re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th|ST|ND|RD|TH)\b"), _ordinal),
    (roman.CENTURY, roman.say_century),
    (roman.RANKED, roman.say_ranked),
    (roman.COUNTED, roman.say_counted),
    (roman.NAMED, roman.say_counted),
    (roman.SMALL, roman.say_small),
    (re.compile(rf"(?<![\w.-])({_N})\s?x\s?{_N}(?:\s?x\s?{_N})?(?![\w])|(?<![\w.-])\d{{3,4}}\s?×\s?\d{{3,4}}(?!\w)"), _by),
    (re.compile(r"(?<=[\d)])\s?[*×·∙]\s?(?=[\d(])"), " times "),
    (re.compile(rf"(?<=[\d)])\s?[-–−]\s?(?={_N}\s?=)|(?<=[\d)])\s[−]\s(?=\d)"), " minus "),
    (re.compile(r"(?<![\d:.])(\d{1,3}(?:\.\d+)?):(\d{1,3}(?:\.\d+)?)(?![\d:]|\.\d)"), _ratio),
    *maths.FOLDS,
    (re.compile(rf"(?<![\w.,$€£-])({_N})([MB])(?=\+|\s(?:{_COUNTED})\b)|(?<![\w.,$€£-])(?=\d+\.)({_N})([MB])(?!\w)"), _millions),
    (re.compile(r"\b(Table|Figure|Fig\.|Exhibit|Section)\s(\d{1,2})-(\d{1,2})(?!\d)"), _dashed),
    (re.compile(r"(?<![\w.])(\d{3,4})([pi])(?=\d{2,3}\b|\b)"), _lines),
    (re.compile(rf"(?<![\w.,-])({_N})\s?[-–—~～]\s?({_N})(?![\w-]|[.,]\d)"), _range),
    *signs.BEFORE_NUMBERS,
    *phones.CODES,
    (re.compile(rf"(?<![\w.,:$-])\d{{4}}(?![\w%]|[.,:]\d)(?!\s(?!(?:{_MONTHS}|is|was|has)\b)[a-z]+s\b)"), _year),
    (re.compile(r"(?<=[Ii]n )\d{4}(?![\w%]|[.,:]\d)"), _year),
    (re.compile(r"\b(H)\.(26\d)\b"), lambda found: f"{found[1]} {digits(found[2])}"),
    (re.compile(r"\b([A-Za-z]+)-?(?<!\d-)(\d{1,9})(?![\d]|[.,]\d)"), _mixed),
    (re.compile(rf"{_SIGN}(?:{_N}|(?<!\w)\.\d+)"), _number),
    *signs.AFTER_NUMBERS,
)  # fmt: skip


def speak(aligned: Aligned) -> None:
    """Turn everything into words that is not."""
    for pattern, make in _RULES:
        aligned.sub(pattern, make)
