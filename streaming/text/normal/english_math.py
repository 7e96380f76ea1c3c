"""Formulas in English: powers, indexes, powers of ten, letters that are multiplied.

Knows: how a formula is written in one line. Does not know: sentences, units.
"""

from __future__ import annotations

import re

from streaming.text.normal import english_units as units
from streaming.text.normal.aligned import Make
from streaming.text.normal.english_numbers import cardinal, number

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ"
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ₀₁₂₃₄₅₆₇₈₉", "0123456789+-n0123456789")
_N = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "λ": "lambda", "μ": "mu",
    "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    "Γ": "gamma", "Δ": "delta", "Θ": "theta", "Λ": "lambda", "Σ": "sigma", "Φ": "phi", "Ψ": "psi", "Ω": "omega",
}  # fmt: skip
_GREEK_LETTERS = "\u0370-\u03ff\u1f00-\u1fff"
GREEK = re.compile(rf"(?<![{_GREEK_LETTERS}])[{''.join(_GREEK)}](?![{_GREEK_LETTERS}])")
"""One Greek letter alone, as formulas have it; a Greek word is left to those who speak Greek."""


def greek(found: re.Match[str]) -> str:
    """``α``: alpha, with blanks where letters or digits touch it."""
    before = found.string[: found.start()][-1:]
    after = found.string[found.end() :][:1]
    name = _GREEK[found.group()]
    return f"{' ' if before.isalnum() else ''}{name}{' ' if after.isalnum() else ''}"


def _power(written: str) -> str:
    """``2``: squared, ``-3``: to the power of minus three."""
    written = written.translate(_PLAIN).strip("()")
    if written in {"2", "3"}:
        return " squared" if written == "2" else " cubed"
    if re.fullmatch(rf"[-+−]?{_N}", written):
        return f" to the power of {number(written)}"
    return f" to the power of {written}"


def _raised(found: re.Match[str]) -> str:
    after = found.string[found.end() :][:1]
    return _power(found[1] or found[2]) + (" " if after.isalnum() else "")


def _lowered(found: re.Match[str]) -> str:
    after = found.string[found.end() :][:1]
    index = cardinal(int(found.group().translate(_PLAIN)))
    return f" {index}{' ' if after.isalnum() else ''}"


def _powered(found: re.Match[str]) -> str:
    """``10^8 m/s``."""
    return f"{number(found[1])}{_power(found[2])} {units.name(found[3], one=False)}"


def _scientific(found: re.Match[str]) -> str:
    return f"{number(found[1])} times ten to the power of {number(found[2].removeprefix('+'))}"


def _letter(found: re.Match[str]) -> str:
    """``3x`` in a formula is three x, elsewhere three times."""
    before = found.string[: found.start()].rstrip()[-1:]
    after = found.string[found.end() :].lstrip()[:1]
    formula = (before and before in "=+*/^(√") or (after and after in "+=*/^)<>≤≥≈≠²³−")
    return f"{number(found[1])} {'x' if formula else 'times'}"


def _times(found: re.Match[str]) -> str:
    return f"{number(found[1])} to {number(found[2])} times"


EARLY: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)[eE]([-+−]?\d{1,3})(?![\w]|\.\d)"), _scientific),
    (re.compile(r"(?<=\d)\*\*(?=\d)"), "^"),
    (re.compile(rf"(?<![\w.])({_N})\^([-−]?\d+)\s?({units.UNIT})"), _powered),
)
"""Before numbers are read."""
POWERS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"(?<=[\w)])\^([-−]?\w+|\([^()]{1,24}\))|(?<=\d) \^ (\d+)"), _raised),
    (re.compile(rf"(?<=[\w)])([{_RAISED}]+)()"), _raised),
    (re.compile("(?<=[A-Za-z)])[₀-₉]+"), _lowered),
)
"""Behind measures, whose powers are others: m² is a square meter."""
FOLDS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(rf"(?<![\w.])({_N})x?\s?[-–—]\s?({_N})[x×](?!\w)"), _times),
    (re.compile(rf"(?<![\w.])({_N})\s?[x×](?![\w])"), _letter),
    (re.compile(rf"(?<![\w.])x(?={_N}(?![\w%]))"), "times "),
)
"""What an x behind or before a number means."""
