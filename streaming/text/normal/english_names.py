"""Addresses, paths and versions in English.

Knows: how they are written and said. Does not know: sentences, other numbers.
"""

from __future__ import annotations

import re

from streaming.text.normal.addresses import ENGLISH_SIGNS, MAIL, WEB, Signs
from streaming.text.normal.aligned import Make
from streaming.text.normal.english_numbers import cardinal, digits, number

_SIGNS = Signs(ENGLISH_SIGNS, " ")


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


ADDRESSES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (MAIL, _mail),
    (WEB, _address),
    (re.compile(r"\blocalhost:(\d{2,5})((?:/[\w./-]{1,200})?)"), _local),
    (re.compile(r"(?<![\w/.:<])(?:~|\.{1,2})?(?:/(?!/)[\w.-]{1,80}){2,12}/?|(?<![\w/])~/[\w.-]{1,80}|(?<!\w)[A-Z]:\\[\w\\. -]{1,200}\w"), _path),
)  # fmt: skip
VERSIONS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"(?<![\w.])([vV]\.?\s?(?=\d+\.))?(\d+(?:\.\d+){2,7})(?::(\d{2,5}))?(-(?:alpha|beta|rc|dev|preview|pre|post)[.-]?\d{0,3})?(?![\w]|\.\d)"), _version),
    (re.compile(r"(?<![\w.])(v|V(?=\d+\.\d))(\d+(?:\.\d+)?)()(?![\w]|\.\d)()"), _version),
    (re.compile(r"\b(Python|iOS|iPadOS|macOS|Android|Ubuntu|Java|PHP|Node|Ruby|Chrome|Firefox|[Vv]ersion)\s(\d+)\.(\d+)(?![\w]|\.\d)"), _release),
)  # fmt: skip
"""Behind telephone numbers, whose parts may be set off by dots too."""
