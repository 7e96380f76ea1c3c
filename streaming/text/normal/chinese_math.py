"""Formulas in Chinese: powers, indexes, powers of ten, Greek letters.

Knows: how a formula is written in one line. Does not know: sentences, units.
"""

from __future__ import annotations

import re

from streaming.text.normal import chinese_units as units
from streaming.text.normal.aligned import Make
from streaming.text.normal.chinese_numbers import cardinal, number
from streaming.text.normal.english_math import GREEK, greek

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ"
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ₀₁₂₃₄₅₆₇₈₉", "0123456789+-n0123456789")
_N = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"


def _power(found: re.Match[str]) -> str:
    """``x^2``: x的平方, ``2^10``: 二的十次方."""
    base, written = found[1], found[2].translate(_PLAIN).strip("()")
    said = number(base) if base[0].isdecimal() else base
    if written in {"2", "3"} and not base[0].isdecimal():
        return f"{said}的{'平方' if written == '2' else '立方'}"
    raised = number(written) if re.fullmatch(rf"[-+−]?{_N}", written) else written
    return f"{said}的{raised}次方"


def _powered(found: re.Match[str]) -> str:
    """``10^8m/s``."""
    return f"{number(found[1])}的{number(found[2])}次方{units.name(found[3])}"


def _lowered(found: re.Match[str]) -> str:
    return cardinal(int(found.group().translate(_PLAIN)))


def _scientific(found: re.Match[str]) -> str:
    return f"{number(found[1])}乘以十的{number(found[2].removeprefix('+'))}次方"


def _factorial(found: re.Match[str]) -> str:
    return f"{number(found[1])}的阶乘"


EARLY: tuple[tuple[re.Pattern[str], Make], ...] = (
    (
        re.compile(r"(?<![A-Za-z0-9.,])(\d+(?:\.\d+)?)[eE]([-+−]?\d{1,3})(?![A-Za-z0-9]|\.\d)"),
        _scientific,
    ),
    (re.compile(r"(?<=\d)\*\*(?=\d)"), "^"),
    (re.compile(rf"(?<![\d.])({_N})!(?=\s?=)"), _factorial),
    (re.compile(rf"(?<![\d.])({_N})\^([-−]?\d+)\s?({units.UNIT})"), _powered),
)
POWERS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(rf"(?<![\d.])({_N}|[A-Za-z]|\))\^([-−]?[A-Za-z0-9]+|\([^()]{{1,24}}\))"), _power),
    (re.compile(rf"(?<![\d.])({_N})([{_RAISED}]+)"), _power),
    (re.compile("([A-Za-z)])([⁰¹⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+)"), _power),
    (re.compile("(?<=[A-Za-z)])[₀-₉]+"), _lowered),
    (re.compile(r"(?<![\w)\u4e00-\u9fff])−(?=[A-Za-z(√])"), "负"),
    (re.compile(r"(?<=[方²³])\s?[-−]\s?(?=[\dA-Za-z])"), "减"),
    (GREEK, greek),
)
"""Behind measures, whose powers are others: m² is 平方米."""
