"""Measures, shares and fractions in English.

Knows: how they are written, alone and with a unit. Does not know: the units' names, sentences.
"""

from __future__ import annotations

import re

from streaming.text.normal import english_units as units
from streaming.text.normal.aligned import Make
from streaming.text.normal.english_money import NUMBER
from streaming.text.normal.english_numbers import cardinal, is_one, number, ordinal

_N = NUMBER
_SIGN = r"(?:(?<![\w)\]])[-−+±])?"
_HALF, _MARKS, _ALL = 2, 10, 100
_HALVES = {2: "half", 4: "quarter"}
_SIMPLE_FRACTION = 20
_INCHES = 12
_VERSIONED = ("Windows", "iOS", "Android", "macOS", "Office", "Python", "Java")
_VULGAR = {"½": "one half", "¼": "one quarter", "¾": "three quarters", "⅓": "one third", "⅔": "two thirds", "⅛": "one eighth", "⅜": "three eighths", "⅝": "five eighths", "⅞": "seven eighths", "⅕": "one fifth", "⅖": "two fifths", "⅗": "three fifths", "⅘": "four fifths", "⅙": "one sixth"}  # fmt: skip


def signed(text: str) -> str:
    """A number with its sign, which may be both."""
    return f"plus or minus {number(text[1:])}" if text.startswith("±") else number(text)


def _percent(found: re.Match[str]) -> str:
    low, high, sign = found[1], found[2], found[3]
    name = {"‰": "per mille"}.get(sign, "percent")
    name += f" per {units.name(found[4], one=True)}" if found[4] else ""
    name += " " if found.string[found.end() : found.end() + 1].isalpha() else ""
    return f"{signed(low)} to {signed(high)} {name}" if high else f"{signed(low)} {name}"


def _measure(found: re.Match[str]) -> str:
    low, high, unit = found[1], found[2], found[3]
    said = f"{signed(low)} to {signed(high)}" if high else signed(low)
    return f"{said} {units.name(unit, one=not high and is_one(low))}"


def _sized(found: re.Match[str]) -> str:
    """``5-kg bag``: five kilogram."""
    return f"{number(found[1])} {units.name(found[2], one=True)}"


def _rate(found: re.Match[str]) -> str:
    """``8/day``: eight per day."""
    return f"{number(found[1])} per {units.name(found[2], one=True)}"


def _screen(found: re.Match[str]) -> str | None:
    """``12" pizza``; not where the sign closes a quotation."""
    if found[2] == '"' and found.string.count('"') != 1:
        return None
    return f"{number(found[1])} inch"


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


def _fraction(found: re.Match[str]) -> str | None:
    """``3/4 kg``: three quarters of a kilogram; two numbers that make no fraction stand apart."""
    whole, top, bottom, unit = found[1], int(found[2]), int(found[3]), found[4]
    apart = _no_fraction(found, top, bottom)
    if apart is not None:
        return apart
    if top >= bottom or bottom > _SIMPLE_FRACTION:
        said = f"{cardinal(top)} over {cardinal(bottom)}"
        return f"{f'{cardinal(int(whole))} and ' if whole else ''}{said}{_unit(unit)}"
    part = _HALVES.get(bottom) or ordinal(bottom)
    part = part if top == 1 else ("halves" if bottom == _HALF else f"{part}s")
    if whole:
        said = f"{cardinal(int(whole))} and {'a' if top == 1 else cardinal(top)} {part}"
        return said + _unit(unit)
    if unit and bottom == _HALF:
        return f"one half {units.name(unit, one=True)}"
    return f"{cardinal(top)} {part}{f' {units.part_of(unit)}' if unit else ''}"


def _no_fraction(found: re.Match[str], top: int, bottom: int) -> str | None:
    """``24/7``, ``80/20``, ``Windows 10/11``, ``8/10``, ``120/0``."""
    if (top, bottom) in {(24, 7), (9, 11)} or top + bottom == _ALL:
        return f"{cardinal(top)} {cardinal(bottom)}"
    if found.string[: found.start()].rstrip().endswith(_VERSIONED):
        return f"{cardinal(top)}, {cardinal(bottom)}"
    of_something = found[1] or found[4] or found.string[found.end() :].startswith(" of")
    if bottom in {_MARKS, _ALL} and not of_something and top <= bottom:
        return f"{cardinal(top)} out of {cardinal(bottom)}"
    if not 0 < bottom <= _ALL or not top:
        return f"{cardinal(top)} slash {cardinal(bottom)}"
    return None


def _out_of(found: re.Match[str]) -> str:
    """``4.8/5``."""
    return f"{number(found[1])} out of {cardinal(int(found[2]))}"


def _unit(written: str | None) -> str:
    return f" {units.name(written, one=False)}" if written else ""


def _vulgar(found: re.Match[str]) -> str:
    said, unit = _VULGAR[found[2]], found[3]
    if found[1]:
        return f"{cardinal(int(found[1]))} and {said.replace('one ', 'a ', 1)}{_unit(unit)}"
    if not unit:
        return said
    return f"{said} {units.name(unit, one=True) if found[2] == '½' else units.part_of(unit)}"


RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(rf"(?<![\w.])({_SIGN}{_N})(?:%?\s?(?:[-–—~]|to)\s?({_N}))?\s?([%‰]|percent\b)(?:/(yr|year|month|mo|week|wk|day|hr|hour)\b)?"), _percent),
    (re.compile(r"(?<![\w.])(\d{1,2})['′](?:\s?(\d{1,2}(?:\.\d+)?)(?:[\"″]|''|(?![\d'\"])))?(?!\w)"), _height),
    (re.compile(rf"(?<![\w.,])({_N})\s?(?:ft|feet)\s({_N})\s?in\b\.?"), _feet_inches),
    (re.compile(rf"(?<![\w.,])({_N})\s?in\b(?=\s?[=,;)]|\.?\s*\Z|\sby\s|\s[x×]\s)"), _inches),
    (re.compile(r"(?<![\w./])(\d{1,3}\.\d{1,2})/(\d{1,3})(?![\w/]|\.\d)"), _out_of),
    (re.compile(rf"(?<![\w./])(?:(\d{{1,3}})\s)?(\d{{1,3}})[/⁄](\d{{1,4}})(?![\w/]|\.\d)(?:\s({units.SPELT}))?"), _fraction),
    (re.compile(rf"(?:(\d{{1,6}})\s?)?([{''.join(_VULGAR)}])(?:\s?({units.SPELT}))?"), _vulgar),
    (re.compile(rf"(?<![\w.,])({_SIGN}{_N})(?:\s?(?:[-–—~]|to)\s?({_N}))?\s?({units.UNIT})(?:\.(?=\s[a-z]))?"), _measure),
    (re.compile(rf"(?<![\w.,])({_N})/({units.RATE})"), _rate),
    (re.compile(rf"(?<![\w.,])({_N})([\"″])(?=\s[a-z])"), _screen),
    (re.compile(rf"(?<![\w.,])({_N})-({units.SPELT})(?=\s[a-z])(?!-)"), _sized),
)  # fmt: skip
