"""Signs and abbreviations in English.

Knows: signs that are said and those that are silent. Does not know: numbers.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Make

_COMPARED = {
    "<": "less than", ">": "greater than", "=": "equals", "≠": "is not equal to", "≤": "less than or equal to",
    "≥": "greater than or equal to", "<=": "less than or equal to", ">=": "greater than or equal to",
    "==": "equals", "!=": "is not equal to", "≈": "approximately", "×": "times", "÷": "divided by", "±": "plus or minus",
    "+": "plus", "−": "minus", "→": "to", "->": "to", "=>": "to", "⇒": "to", "∞": "infinity", "√": "square root of", "∑": "sum of", "π": "pi",
}  # fmt: skip
_ALONE = {"&": "and", "@": "at", "%": "percent", "°": "degrees", "№": "number", "§": "section", "¶": "paragraph", "µ": "micro", "¢": "cents", "$": "dollars", "€": "euros", "£": "pounds", "¥": "yen", "‰": "per mille"}  # fmt: skip
_TITLES = {"Mr": "Mister", "Mrs": "Missus", "Dr": "Doctor", "Prof": "Professor", "St": "Saint", "Gen": "General", "Sgt": "Sergeant", "Capt": "Captain", "Lt": "Lieutenant", "Gov": "Governor", "Sen": "Senator", "Rep": "Representative", "Rev": "Reverend", "Mt": "Mount", "Ft": "Fort"}  # fmt: skip
_SHORT = {
    "e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "vs.": "versus", "vs": "versus", "approx.": "approximately", "w/o": "without", "w/": "with",
    "a.k.a.": "also known as", "aka": "also known as", "incl.": "including", "max.": "maximum", "min.": "minimum",
    "Ave.": "Avenue", "Blvd.": "Boulevard", "Dept.": "Department", "Fig.": "Figure", "fig.": "figure", "Figs.": "Figures", "Vol.": "Volume", "vol.": "volume",
    "Ch.": "Chapter", "Eq.": "Equation", "pp.": "pages", "et al.": "and others", "cf.": "compare", "ca.": "circa", "Inc.": "Incorporated", "Ltd.": "Limited", "Jr.": "Junior", "Sr.": "Senior",
}  # fmt: skip
_SHORT_WORDS = "|".join(re.escape(word) for word in sorted(_SHORT, key=len, reverse=True))
_NAMES = {"C++": "C plus plus", "c++": "C plus plus", "C#": "C sharp", "F#": "F sharp", ".NET": "dot net", "ASP.NET": "A S P dot net", "A+": "A plus", "B+": "B plus", "Notepad++": "Notepad plus plus", "g++": "G plus plus", "R&D": "R and D", "Q&A": "Q and A", "B2B": "B to B", "B2C": "B to C", "C2C": "C to C", "P2P": "P to P", "24x7": "twenty four seven", "Wi-Fi": "Wi-Fi"}  # fmt: skip
_NAME_WORDS = "|".join(re.escape(name) for name in sorted(_NAMES, key=len, reverse=True))
_COMPARE = "|".join(re.escape(sign) for sign in sorted(_COMPARED, key=len, reverse=True))


def _short(found: re.Match[str]) -> str:
    """At the text's end, the stop of an abbreviation is also the sentence's."""
    stop = (
        "."
        if found.group().endswith(".") and not found.string[found.end() :].strip("\"')”’ ")
        else ""
    )
    return _SHORT[found.group()] + stop


def _slash(found: re.Match[str]) -> str | None:
    """``and/or`` is a turn of phrase; elsewhere the sign is said."""
    if not found[1].isascii():
        return None
    return f"{found[1]} " if found[1].lower() == "and" else f"{found[1]} slash "


BEFORE_NUMBERS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(rf"(?<![\w.+#])(?:{_NAME_WORDS})(?![\w+#])"), lambda found: _NAMES[found.group()]),
    (re.compile(rf"\b({'|'.join(_TITLES)})\. ?(?=[A-Z])"), lambda found: f"{_TITLES[found[1]]} "),
    (re.compile(r"\b(Nos?|nos?)\.\s?(?=\d)"), lambda found: f"{found[1][0]}umber{'s' if found[1].endswith('s') else ''} "),
    (re.compile(r"(?<![\w&])[#№]\s?(?=\d)"), lambda _: "number "),
    (re.compile(r"(?<![\w&#])#(?=[A-Za-z])"), lambda _: ""),
    (re.compile(r"§\s?(?=\d)"), lambda _: "section "),
    (re.compile(r"(?<![\w~])(?<![\w)] )[~～∼≈]\s?(?=[\d$€£.])"), lambda _: "about "),
    (re.compile(rf"(?<![\w.])(?:{_SHORT_WORDS})(?!\w)"), _short),
)  # fmt: skip
AFTER_NUMBERS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"(?<![\w/])/?(\w+)/(?=\w+(?:/|\b))"), _slash),
    (re.compile(r"(?<=\w)(?:'s)?@(?=\w)"), lambda _: " at "),
    (re.compile(r"(?<!\w)@(?=\w)"), lambda _: ""),
    (re.compile(rf"\s*(?<![<>=+\-→])(?:{_COMPARE})(?![<>=+\-→])\s*(?=[\w(\"'$-])"), lambda found: f" {_COMPARED[found.group().strip()]} "),
    (re.compile(rf"(?<![{re.escape(''.join(_ALONE))}])[{re.escape(''.join(_ALONE))}](?![{re.escape(''.join(_ALONE))}])"), lambda found: f" {_ALONE[found.group()]} "),
    (re.compile(r"[~～^|\\<>{}=•·■□▪◦©®™†‡¤¦ªº←↑→↓↔⇒✓✔✗✘★☆●○◆◇\[\]]+"), lambda _: " "),
)  # fmt: skip
