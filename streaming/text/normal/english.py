"""English text as it is said.

Knows: the order in which constructs are looked for, each before those it contains. Does not know:
where the text came from.
"""

from __future__ import annotations

import re

from streaming.text.normal import english_money as money
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
_NOT_IN_NUMBER = r"(?<![\w.,:])"
_MONTHS = "|".join(clock.MONTHS)
_LONGEST_PLAIN = 12
_FIRST_YEAR, _LAST_YEAR = 1100, 2099
_HALVES = {2: "half", 4: "quarter"}
_SIMPLE_FRACTION = 20
_VULGAR = {"½": "one half", "¼": "one quarter", "¾": "three quarters", "⅓": "one third", "⅔": "two thirds", "⅛": "one eighth", "⅜": "three eighths", "⅝": "five eighths", "⅞": "seven eighths", "⅕": "one fifth", "⅖": "two fifths", "⅗": "three fifths", "⅘": "four fifths", "⅙": "one sixth"}  # fmt: skip


def _signed(text: str) -> str:
    return f"plus or minus {number(text[1:])}" if text.startswith("±") else number(text)


def _address(found: re.Match[str]) -> str:
    return _SIGNS.say(found[1] or found[2])


def _mail(found: re.Match[str]) -> str:
    return _SIGNS.say(f"{found[1]}@{found[2]}")


def _phone(found: re.Match[str]) -> str:
    plus = "plus " if found.group().lstrip("(").startswith("+") else ""
    groups = re.findall(r"\d+", found.group())
    return plus + ", ".join(digits(group) for group in groups)


def _card(found: re.Match[str]) -> str:
    return grouped_digits(found.group())


def _version(found: re.Match[str]) -> str:
    parts = found[2].split(".")
    address = len(parts) == 4 and all(int(part) <= 255 for part in parts)
    say = digits if address else number
    prefix = "version " if found[1] else ""
    port = f" port {digits(found[3])}" if found[3] else ""
    return prefix + (" dot " if address else " point ").join(map(say, parts)) + port


def _percent(found: re.Match[str]) -> str:
    low, high, sign = found[1], found[2], found[3]
    name = {"‰": "per mille"}.get(sign, "percent")
    return f"{_signed(low)} to {_signed(high)} {name}" if high else f"{_signed(low)} {name}"


def _measure(found: re.Match[str]) -> str:
    low, high, unit = found[1], found[2], found[3]
    said = f"{_signed(low)} to {_signed(high)}" if high else _signed(low)
    return f"{said} {units.name(unit, one=not high and is_one(low))}"


def _height(found: re.Match[str]) -> str:
    feet = f"{cardinal(int(found[1]))} {'foot' if found[1] == '1' else 'feet'}"
    return f"{feet} {number(found[2])} inch{'' if found[2] == '1' else 'es'}" if found[2] else feet


def _ordinal(found: re.Match[str]) -> str:
    return ordinal(int(found[1].replace(",", "")))


def _fraction(found: re.Match[str]) -> str | None:
    whole, top, bottom = found[1], int(found[2]), int(found[3])
    if (top, bottom) in {(24, 7), (9, 11)}:
        return f"{cardinal(top)} {cardinal(bottom)}"
    if not 0 < bottom <= 100 or not top:
        return f"{cardinal(top)} slash {cardinal(bottom)}"
    if top >= bottom or bottom > _SIMPLE_FRACTION:
        return f"{f'{cardinal(int(whole))} and ' if whole else ''}{cardinal(top)} over {cardinal(bottom)}"
    part = _HALVES.get(bottom) or ordinal(bottom)
    part = part if top == 1 else ("halves" if bottom == 2 else f"{part}s")
    if whole:
        return f"{cardinal(int(whole))} and {'a' if top == 1 else cardinal(top)} {part}"
    return f"{cardinal(top)} {part}"


def _vulgar(found: re.Match[str]) -> str:
    said = _VULGAR[found[2]]
    if not found[1]:
        return said
    return f"{cardinal(int(found[1]))} and {said.replace('one ', 'a ', 1)}"


def _decade(found: re.Match[str]) -> str:
    written = found[1]
    return plural(year(int(written)) if len(written) == 4 else cardinal(int(written)))


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


def _fold(found: re.Match[str]) -> str:
    return f"{number(found[1])} times"


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


def _code(found: re.Match[str]) -> str:
    return f"{found[1]}{digits(found[2])}"


_RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (MAIL, _mail),
    (WEB, _address),
    (re.compile(r"(?<![\w.,$€£])['’]?(\d{3}0|[2-9]0)['’]?s\b"), _decade),
    (money.MONEY, money.say_money),
    (money.TRAILING, money.say_trailing),
    (money.CENTS, money.say_cents),
    (clock.ISO, clock.say_iso),
    (clock.CLOCK_RANGE, clock.say_clock_range),
    (clock.CLOCK, clock.say_clock),
    (clock.HOUR_RANGE, clock.say_hour_range),
    (clock.HOUR, clock.say_hour),
    (clock.SLASHED, clock.say_slashed),
    (clock.MONTH_DAY, clock.say_month_day),
    (clock.DAY_MONTH, clock.say_day_month),
    (clock.MONTH_YEAR, clock.say_month_year),
    (re.compile(r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(0\))?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}|(?:1[ .-])?\(\d{3}\)\s?\d{3}[ .-]\d{4}|(?:1[-.])?\d{3}([-.])\d{3}\1\d{4}|\d{3}-\d{2}-\d{4}|\d{3}-\d{4}|1?\d{3} \d{3} \d{4})(?![\w-]|\.\d)"), _phone),
    (re.compile(r"(?<![\w.-])\d{1,6}(?:-\d{1,7}){3,6}(?![\w-])|(?<![\w.,-])911(?![\w.,-]\d|\w)"), _phone),
    (re.compile(rf"(?<![\w.,$€£])({_N})(?:k|(?<=\d\d)K)(?!\w)"), lambda found: f"{number(found[1])} thousand"),
    (re.compile(r"(?<![\w.-])\d{4}(?:[ -]\d{4}){2,4}(?:[ -]\d{1,3})?(?![\w-])"), _card),
    (re.compile(r"(?<![\w.])([vV]\.?\s?(?=\d+\.))?(\d+(?:\.\d+){2,7})(?::(\d{2,5}))?(?![\w]|\.\d)"), _version),
    (re.compile(r"(?<![\w.])([vV])(\d+(?:\.\d+)?)()(?![\w]|\.\d)"), _version),
    (re.compile(rf"(?<![\w.])({_SIGN}{_N})(?:%?\s?(?:[-–—~]|to)\s?({_N}))?\s?([%‰]|percent\b)"), _percent),
    (re.compile(r"(?<![\w.])(\d{1,2})['′](?:\s?(\d{1,2}(?:\.\d+)?)(?:[\"″]|''))?(?!\w)"), _height),
    (re.compile(r"(?<![\w./])(?:(\d{1,3})\s)?(\d{1,3})[/⁄](\d{1,4})(?![\w/]|\.\d)"), _fraction),
    (re.compile(f"(?:(\\d{{1,6}})\\s?)?([{''.join(_VULGAR)}])"), _vulgar),
    (re.compile(rf"(?<![\w.,])({_SIGN}{_N})(?:\s?(?:[-–—~]|to)\s?({_N}))?\s?({units.UNIT})"), _measure),
    (re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th|ST|ND|RD|TH)\b"), _ordinal),
    (roman.CENTURY, roman.say_century),
    (roman.RANKED, roman.say_ranked),
    (roman.COUNTED, roman.say_counted),
    (roman.NAMED, roman.say_counted),
    (re.compile(rf"(?<![\w.-])({_N})\s?x\s?{_N}(?:\s?x\s?{_N})?(?![\w])"), _by),
    (re.compile(r"(?<=[\d)])\s?[*×·∙]\s?(?=[\d(])"), " times "),
    (re.compile(r"(?<=[\d)])\s?\^\s?(?=[\d(])"), " to the power of "),
    (re.compile(rf"(?<=[\d)])\s?[-–−]\s?(?={_N}\s?=)|(?<=[\d)])\s[−]\s(?=\d)"), " minus "),
    (re.compile(r"(?<![\d:.])(\d{1,3}):(\d{1,3})(?![\d:])"), _ratio),
    (re.compile(rf"(?<![\w.])({_N})\s?[x×](?![\w])"), _fold),
    (re.compile(rf"(?<![\w.,-])({_N})\s?[-–—~～]\s?({_N})(?![\w-]|[.,]\d)"), _range),
    *signs.BEFORE_NUMBERS,
    (re.compile(r"((?:\b[Pp]in|PIN|\b[Cc]ode|\b[Rr]oom|\b[Ff]light|\b[Oo]rder|\b[Aa]ccount|\b[Cc]ard|\bID|\bending in|\b[Pp]assword|\b[Zz]ip|ZIP)(?:\s(?:code|number|is|no\.?))*[\s:#]*)(\d{3,12})(?![\w]|[.,:]\d)"), _code),
    (re.compile(rf"(?<![\w.,:$-])\d{{4}}(?![\w%]|[.,:]\d)(?!\s(?!(?:{_MONTHS}|is|was|has)\b)[a-z]+s\b)"), _year),
    (re.compile(r"(?<=[Ii]n )\d{4}(?![\w%]|[.,:]\d)"), _year),
    (re.compile(r"\b([A-Za-z]+)-?(?<!\d-)(\d{1,9})(?![\d]|[.,]\d)"), _mixed),
    (re.compile(rf"{_SIGN}(?:{_N}|(?<!\w)\.\d+)"), _number),
    *signs.AFTER_NUMBERS,
)  # fmt: skip


def speak(aligned: Aligned) -> None:
    """Turn everything into words that is not."""
    for pattern, make in _RULES:
        aligned.sub(pattern, make)
