"""Telephone numbers, cards and codes in English: runs of digits that count nothing.

Knows: how such numbers are grouped in several countries, the words they follow. Does not know:
other numbers.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Make
from streaming.text.normal.english_numbers import cardinal, digits, grouped_digits

_EXTENSION = r"(?:,?\s?(?:[Ee]xt\.?|[Xx]|extension)\s?(?P<ext>\d{1,6})(?!\w))?"
_INTERNATIONAL = r"\+\d{1,3}[ .-]?(?:\(0\))?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}"
_AMERICAN = r"(?:1[ .-])?\(\d{3}\)\s?\d{3}[ .-]\d{4}|(?:1[-.])?\d{3}(?P<gap>[-.])\d{3}(?P=gap)\d{4}|1?\d{3} \d{3} \d{4}|\d{3}-\d{4}"
_TRUNK = r"\(?0\d{1,4}\)?(?:[ .-]?\d{2,4}){2,4}"
"""National numbers elsewhere begin with a nought: 020 7946 0958, 01 23 45 67 89."""
_LEAST, _MOST = 9, 12
PHONE = re.compile(
    rf"(?<![\w.+-])(?P<all>{_INTERNATIONAL}|{_AMERICAN}|\d{{3}}-\d{{2}}-\d{{4}}){_EXTENSION}(?![\w-]|\.\d)"
)
NATIONAL = re.compile(rf"(?<![\w.,+-])(?P<all>{_TRUNK}){_EXTENSION}(?![\w-]|[.,]\d)")
VANITY = re.compile(r"(?<![\w.-])1-(\d{3})-(?=[A-Z]{4,8}\b)")
PARTED = re.compile(r"(?<![\w.-])\d{1,6}(?:-\d{1,7}){3,6}(?![\w-])")
CARD = re.compile(r"(?<![\w.-])\d{4}(?:[ -]\d{4}){2,4}(?:[ -]\d{1,3})?(?![\w-])")
_SHORT_GOES_ON = (
    "or|and|for|if|in|now|to|at|is|from|then|when|today|immediately|right|on|as|before|after"
)
SHORT = re.compile(
    r"(\b(?:[Cc]all|[Dd]ial(?:ed|ling)?|[Tt]ext|[Pp]hone|[Rr]ing|[Ee]mergency:?|[Pp]ort)(?:\s[A-Z]{2,9})?(?:\s(?:at|to|on|us|is))?\s)"
    rf"(\d{{3,6}}(?:(?:,\s?|,?\s(?:or|and)\s)\d{{3,4}}){{0,3}})(?![\w%]|[.,:-]\d|\s(?!(?:{_SHORT_GOES_ON})\b)[a-z])"
)
EMERGENCY = re.compile(r"(?<![\w.,-])911(?![\w.,-]\d|\w)")
CODE = re.compile(
    r"((?:\b[Pp]in|PIN|\b[Cc]ode|\b[Rr]oom|\b[Ff]light|\b[Oo]rder|\b[Aa]ccount|\b[Cc]ard|\bID|\bending in|\b[Pp]assword|\b[Zz]ip|ZIP|CVV|RFC|\b[Bb]oeing|\b[Aa]irbus|\bextension|\bext\.?|\b[Cc]onfirmation|\b[Tt]racking|\b[Tt]icket|\b[Pp]asscode|OTP|HTTP|\b[Ee]rror|\b[Ss]tatus|\b[Aa]pt)"
    r"(?:\s(?:code|number|is|no\.?))*[\s:#]*)(\d{2,12}(?:-\d{2,12})*)(?![\w%]|[.,:]\d)"
)
_CODE_DIGITS = 3
MASKED = re.compile(r"(?<![\w.])(\d{2,6})((?:[\s-]?[*•]{2,12}){1,4})[\s-]?(\d{2,6})(?![\w.]\d)")
HARDWARE = re.compile(r"\b[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}\b")
STARS = re.compile(r"(?<!\w)[*•]{2,}\s?(\d{2,6})(?![\w.]\d)")
SERIAL = re.compile(r"\b([A-Z]{2,5})((?:-\d{2,6}){2,4})(?![\w-])")
STATE_CODE = re.compile(r"(?<=\b[A-Z]{2} )(\d{5})(-\d{4})?(?![\w-]|[.,]\d)")
EXPIRY = re.compile(
    r"\b((?:[Ee]xp\.?|[Ee]xpir(?:es|y|ation)(?: date)?|[Vv]alid (?:thru|through|until))[:\s]+)(0[1-9]|1[0-2])/(\d{2})(?![\d/])"
)


def _said(written: str, extension: str | None = None) -> str:
    plus = "plus " if written.lstrip("(").startswith("+") else ""
    groups = ", ".join(digits(group) for group in re.findall(r"\d+", written))
    return plus + groups + (f", extension {digits(extension)}" if extension else "")


def _phone(found: re.Match[str]) -> str:
    return _said(found["all"], found["ext"])


def _national(found: re.Match[str]) -> str | None:
    many = sum(char.isdecimal() for char in found["all"])
    return _phone(found) if _LEAST <= many <= _MOST else None


def _parted(found: re.Match[str]) -> str:
    return _said(found.group())


def _vanity(found: re.Match[str]) -> str:
    return f"one, {digits(found[1])}, "


def _short(found: re.Match[str]) -> str:
    return found[1] + re.sub(r"\d+", lambda run: digits(run.group()), found[2])


def _masked(found: re.Match[str]) -> str:
    """``4111 **** 1111``."""
    return f"{digits(found[1])}, stars, {digits(found[3])}"


def _hardware(found: re.Match[str]) -> str:
    """The address of a network card: pairs, spelt."""
    pairs = re.split("[:-]", found.group().upper())
    return ", ".join(
        " ".join(digits(char) if char.isdecimal() else char for char in pair) for pair in pairs
    )


def _serial(found: re.Match[str]) -> str:
    """``CVE-2024-12345``."""
    return f"{found[1]} {', '.join(map(digits, found[2].strip('-').split('-')))}"


def _state_code(found: re.Match[str]) -> str:
    return digits(found[1]) + (f", {digits(found[2])}" if found[2] else "")


def _expiry(found: re.Match[str]) -> str:
    """``exp 08/27`` of a card."""
    return f"{found[1].replace('exp.', 'exp')}{digits(found[2])}, {cardinal(int(found[3]))}"


def _code(found: re.Match[str]) -> str | None:
    extension = found[1].lower().startswith("ext")
    if len(found[2]) < _CODE_DIGITS and not extension:
        return None
    return found[1].replace("ext.", "extension") + ", ".join(map(digits, found[2].split("-")))


RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (HARDWARE, _hardware),
    (MASKED, _masked),
    (STARS, lambda found: digits(found[1])),
    (CARD, lambda found: grouped_digits(found.group())),
    (PHONE, _phone),
    (NATIONAL, _national),
    (VANITY, _vanity),
    (PARTED, _parted),
    (SHORT, _short),
    (EXPIRY, _expiry),
    (SERIAL, _serial),
    (STATE_CODE, _state_code),
    (EMERGENCY, lambda found: digits(found.group())),
)
CODES: tuple[tuple[re.Pattern[str], Make], ...] = ((CODE, _code),)
"""Later than amounts, dates and measures, which may follow the same words."""
