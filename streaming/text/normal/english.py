"""English text as it is said.

Knows: the order in which constructs are looked for, each before those it contains. Does not know:
where the text came from.
"""

from __future__ import annotations

import re

from streaming.text.normal import english_math as maths
from streaming.text.normal import english_money as money
from streaming.text.normal import english_phones as phones
from streaming.text.normal import english_signs as signs
from streaming.text.normal import english_time as clock
from streaming.text.normal import english_units as units
from streaming.text.normal import roman
from streaming.text.normal.addresses import ENGLISH_SIGNS, MAIL, WEB, Signs
from streaming.text.normal.aligned import Aligned, Make
from streaming.text.normal.english_numbers import (
    cardinal,
    digits,
    grouped_digits,
    is_one,
    number,
    ordinal,
    plural,
    year,
)

_SIGNS = Signs(ENGLISH_SIGNS, " ")
_N = money.NUMBER
_SIGN = r"(?:(?<![\w)\]])[-−+±])?"
_MONTHS = "|".join(clock.MONTHS)
_LONGEST_PLAIN = 12
_FIRST_YEAR, _LAST_YEAR = 1100, 2099
_HALVES = {2: "half", 4: "quarter"}
_SIMPLE_FRACTION = 20
_INCHES = 12
_VULGAR = {"½": "one half", "¼": "one quarter", "¾": "three quarters", "⅓": "one third", "⅔": "two thirds", "⅛": "one eighth", "⅜": "three eighths", "⅝": "five eighths", "⅞": "seven eighths", "⅕": "one fifth", "⅖": "two fifths", "⅗": "three fifths", "⅘": "four fifths", "⅙": "one sixth"}  # fmt: skip


def _signed(text: str) -> str:
    return f"plus or minus {number(text[1:])}" if text.startswith("±") else number(text)


def _address(found: re.Match[str]) -> str:
    return _spell(_SIGNS.say(found[1] or found[2]))


def _mail(found: re.Match[str]) -> str:
    return _spell(_SIGNS.say(f"{found[1]}@{found[2]}"))


def _spell(address: str) -> str:
    """Numbers of an address: long ones, and all of an address of four numbers, digit by digit."""
    numeric = re.match(r"\d+ dot \d+ dot \d+ dot \d+", address) is not None
    return re.sub(
        r"\d+",
        lambda run: digits(run.group()) if numeric or len(run.group()) > 2 else run.group(),
        address,
    )


def _path(found: re.Match[str]) -> str:
    return _spell(_SIGNS.say(found.group().replace("\\", " backslash "))).strip()


def _local(found: re.Match[str]) -> str:
    return f"localhost {digits(found[1])}{found[2] and ' ' + _SIGNS.say(found[2])}"


def _version(found: re.Match[str]) -> str:
    parts = found[2].split(".")
    address = len(parts) == 4 and all(int(part) <= 255 for part in parts)
    say = digits if address else number
    prefix = "version " if found[1] else ""
    port = f" port {digits(found[3])}" if found[3] else ""
    said = prefix + (" dot " if address else " point ").join(map(say, parts)) + port
    return said + re.sub(r"[-.]|(?<=[a-z])(?=\d)", " ", found[4] or "")


def _release(found: re.Match[str]) -> str:
    minor = digits(found[3]) if found[3].startswith("0") else cardinal(int(found[3]))
    return f"{found[1]} {cardinal(int(found[2]))} point {minor}"


def _percent(found: re.Match[str]) -> str:
    low, high, sign = found[1], found[2], found[3]
    name = {"‰": "per mille"}.get(sign, "percent")
    name += " " if found.string[found.end() : found.end() + 1].isalpha() else ""
    return f"{_signed(low)} to {_signed(high)} {name}" if high else f"{_signed(low)} {name}"


def _measure(found: re.Match[str]) -> str:
    low, high, unit = found[1], found[2], found[3]
    said = f"{_signed(low)} to {_signed(high)}" if high else _signed(low)
    return f"{said} {units.name(unit, one=not high and is_one(low))}"


def _sized(found: re.Match[str]) -> str:
    """``5-kg bag``: five kilogram."""
    return f"{number(found[1])} {units.name(found[2], one=True)}"


def _feet_inches(found: re.Match[str]) -> str:
    feet = f"{number(found[1])} {'foot' if is_one(found[1]) else 'feet'}"
    return f"{feet} {number(found[2])} inch{'' if is_one(found[2]) else 'es'}"


def _inches(found: re.Match[str]) -> str:
    return f"{number(found[1])} inch{'' if is_one(found[1]) else 'es'}"


def _height(found: re.Match[str]) -> str:
    if found[2] and float(found[2]) >= _INCHES:
        minutes = f"{cardinal(int(found[1]))} minute{'' if found[1] == '1' else 's'}"
        return f"{minutes} {number(found[2])} seconds"
    feet = f"{cardinal(int(found[1]))} {'foot' if found[1] == '1' else 'feet'}"
    return f"{feet} {number(found[2])} inch{'' if found[2] == '1' else 'es'}" if found[2] else feet


def _ordinal(found: re.Match[str]) -> str:
    return ordinal(int(found[1].replace(",", "")))


def _fraction(found: re.Match[str]) -> str | None:
    whole, top, bottom, unit = found[1], int(found[2]), int(found[3]), found[4]
    if (top, bottom) in {(24, 7), (9, 11)}:
        return f"{cardinal(top)} {cardinal(bottom)}"
    if not 0 < bottom <= 100 or not top:
        return f"{cardinal(top)} slash {cardinal(bottom)}"
    if top >= bottom or bottom > _SIMPLE_FRACTION:
        said = f"{cardinal(top)} over {cardinal(bottom)}"
        return f"{f'{cardinal(int(whole))} and ' if whole else ''}{said}{_unit(unit)}"
    part = _HALVES.get(bottom) or ordinal(bottom)
    part = part if top == 1 else ("halves" if bottom == 2 else f"{part}s")
    if whole:
        said = f"{cardinal(int(whole))} and {'a' if top == 1 else cardinal(top)} {part}"
        return said + _unit(unit)
    if unit and (top, bottom) == (1, 2):
        return f"one half {units.name(unit, one=True)}"
    return f"{cardinal(top)} {part}{f' {units.part_of(unit)}' if unit else ''}"


def _unit(written: str | None) -> str:
    return f" {units.name(written, one=False)}" if written else ""


def _vulgar(found: re.Match[str]) -> str:
    said, unit = _VULGAR[found[2]], found[3]
    if found[1]:
        return f"{cardinal(int(found[1]))} and {said.replace('one ', 'a ', 1)}{_unit(unit)}"
    if not unit:
        return said
    return f"{said} {units.name(unit, one=True) if found[2] == '½' else units.part_of(unit)}"


def _decade(found: re.Match[str]) -> str:
    written = found[1]
    return plural(year(int(written)) if len(written) == 4 else cardinal(int(written)))


def _many(found: re.Match[str]) -> str:
    """``100s of``: hundreds of."""
    return plural(cardinal(int(found[1].replace(",", "")))).removeprefix("one ")


def _lines(found: re.Match[str]) -> str:
    """``1080p``: ten eighty p."""
    high, low = divmod(int(found[1]), 100)
    return f"{cardinal(high)} {cardinal(low)} {found[2]}"


def _spaced(found: re.Match[str]) -> str:
    return number(re.sub("[ _]", "", found.group()))


def _season(found: re.Match[str]) -> str | None:
    """``2023/24``."""
    if (int(found[1]) + 1) % 100 != int(found[2]):
        return None
    return f"{year(int(found[1]))} to {cardinal(int(found[2]))}"


def _fiscal(found: re.Match[str]) -> str:
    """``FY2024``, ``Q1'25``."""
    written = found[2]
    said = year(int(written)) if len(written) == 4 else cardinal(int(written))
    return f"{found[1]} {said}"


def _is_year(written: str) -> bool:
    return len(written) == 4 and _FIRST_YEAR <= int(written) <= _LAST_YEAR


def _range(found: re.Match[str]) -> str:
    low, high = found[1], found[2]
    if _is_year(low) and (_is_year(high) or len(high) == 2):
        until = year(int(high)) if len(high) == 4 else cardinal(int(high))
        return f"{year(int(low))} to {until}"
    return f"{number(low)} to {number(high)}"


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
    if len(plain) > _LONGEST_PLAIN and plain.isdigit():
        return grouped_digits(plain)
    letter_follows = found.string[found.end() : found.end() + 1].isalpha()
    letter_before = found.string[: found.start()][-1:].isalpha()
    return f"{' ' if letter_before else ''}{_signed(written)}{' ' if letter_follows else ''}"


_RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (MAIL, _mail),
    (WEB, _address),
    (re.compile(r"\blocalhost:(\d{2,5})((?:/[\w./-]{1,200})?)"), _local),
    (re.compile(r"(?<![\w/.:<])(?:~|\.{1,2})?(?:/(?!/)[\w.-]{1,80}){2,12}/?|(?<![\w/])~/[\w.-]{1,80}|(?<!\w)[A-Z]:\\[\w\\. -]{1,200}\w"), _path),
    *maths.EARLY,
    (re.compile(r"(?<![\w.,$€£])['’]?(\d{3}0|[2-9]0)['’]?s\b(?!\sof\b)"), _decade),
    (re.compile(r"(?<![\w.,$€£])(1(?:0{1,3}|,000))s(?=\sof\b)"), _many),
    (money.MONEY, money.say_money),
    (money.TRAILING, money.say_trailing),
    (money.CENTS, money.say_cents),
    (clock.STAMP, clock.say_stamp),
    (clock.ISO, clock.say_iso),
    (clock.COMPACT, clock.say_compact),
    (clock.CLOCK_RANGE, clock.say_clock_range),
    (clock.HOUR_RANGE, clock.say_hour_range),
    (clock.CLOCK, clock.say_clock),
    (clock.HOUR, clock.say_hour),
    (clock.LASTED, clock.say_lasted),
    (clock.SLASHED, clock.say_slashed),
    (clock.SLASHED_DAY, clock.say_slashed_day),
    (clock.WEEKDAY, clock.say_weekday),
    (clock.MONTH_DAY, clock.say_month_day),
    (clock.DAY_MONTH, clock.say_day_month),
    (clock.MONTH_YEAR, clock.say_month_year),
    (clock.MONTH_NAME, clock.say_month),
    (re.compile(r"(?<![\w/])((?:19|20)\d{2})/(\d{2})(?![\w/]|\.\d)"), _season),
    (re.compile(r"\b(FY|CY|[QH][1-4])\s?['’]?((?<=[FC]Y)(?:20)?\d{2}|(?<=['’])\d{2})\b"), _fiscal),
    (re.compile(r"(?<![\w.,-])[1-9]\d{0,2}(?:[ _]\d{3}){2,5}(?![\w-]| \d|[.,]\d)"), _spaced),
    *phones.RULES,
    (re.compile(rf"(?<=\ba\s)({_N})K(?!\w)"), lambda found: f"{number(found[1])} K"),
    (re.compile(rf"(?<![\w.,$€£])({_N})(?:k|(?<=\d\d)K)(?!\w)"), lambda found: f"{number(found[1])} thousand"),
    (re.compile(r"(?<![\w.])([vV]\.?\s?(?=\d+\.))?(\d+(?:\.\d+){2,7})(?::(\d{2,5}))?(-(?:alpha|beta|rc|dev|preview|pre|post)[.-]?\d{0,3})?(?![\w]|\.\d)"), _version),
    (re.compile(r"(?<![\w.])([vV])(\d+(?:\.\d+)?)()(?![\w]|\.\d)()"), _version),
    (re.compile(r"\b(Python|iOS|iPadOS|macOS|Android|Ubuntu|Java|PHP|Node|Ruby|Chrome|Firefox|[Vv]ersion)\s(\d+)\.(\d+)(?![\w]|\.\d)"), _release),
    (re.compile(rf"(?<![\w.])({_SIGN}{_N})(?:%?\s?(?:[-–—~]|to)\s?({_N}))?\s?([%‰]|percent\b)"), _percent),
    (re.compile(r"(?<![\w.])(\d{1,2})['′](?:\s?(\d{1,2}(?:\.\d+)?)(?:[\"″]|''))?(?!\w)"), _height),
    (re.compile(rf"(?<![\w.,])({_N})\s?(?:ft|feet)\s({_N})\s?in\b\.?"), _feet_inches),
    (re.compile(rf"(?<![\w.,])({_N})\s?in\b(?=\s?[=,;)]|\.?\s*\Z|\sby\s|\s[x×]\s)"), _inches),
    (re.compile(rf"(?<![\w./])(?:(\d{{1,3}})\s)?(\d{{1,3}})[/⁄](\d{{1,4}})(?![\w/]|\.\d)(?:\s({units.SPELT}))?"), _fraction),
    (re.compile(rf"(?:(\d{{1,6}})\s?)?([{''.join(_VULGAR)}])(?:\s?({units.SPELT}))?"), _vulgar),
    (re.compile(rf"(?<![\w.,])({_SIGN}{_N})(?:\s?(?:[-–—~]|to)\s?({_N}))?\s?({units.UNIT})"), _measure),
    (re.compile(rf"(?<![\w.,])({_N})-({units.SPELT})(?=\s[a-z])(?!-)"), _sized),
    *maths.POWERS,
    (re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th|ST|ND|RD|TH)\b"), _ordinal),
    (roman.CENTURY, roman.say_century),
    (roman.RANKED, roman.say_ranked),
    (roman.COUNTED, roman.say_counted),
    (roman.NAMED, roman.say_counted),
    (roman.SMALL, roman.say_small),
    (re.compile(rf"(?<![\w.-])({_N})\s?x\s?{_N}(?:\s?x\s?{_N})?(?![\w])"), _by),
    (re.compile(r"(?<=[\d)])\s?[*×·∙]\s?(?=[\d(])"), " times "),
    (re.compile(rf"(?<=[\d)])\s?[-–−]\s?(?={_N}\s?=)|(?<=[\d)])\s[−]\s(?=\d)"), " minus "),
    (re.compile(r"(?<![\d:.])(\d{1,3}):(\d{1,3})(?![\d:])"), _ratio),
    *maths.FOLDS,
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
