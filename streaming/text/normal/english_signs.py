"""Signs and abbreviations in English.

Knows: signs that are said and those that are silent. Does not know: numbers.
"""

from __future__ import annotations

import re

from streaming.text.normal import english_math as maths
from streaming.text.normal.aligned import Make

_COMPARED = {
    "<": "less than", ">": "greater than", "=": "equals", "≠": "is not equal to", "≤": "less than or equal to",
    "≥": "greater than or equal to", "<=": "less than or equal to", ">=": "greater than or equal to",
    "&&": "and", "||": "or", "==": "equals", "!=": "is not equal to", "≈": "approximately", "×": "times", "÷": "divided by", "±": "plus or minus",
    "+": "plus", "−": "minus", "→": "to", "->": "to", "=>": "to", "⇒": "to", "∞": "infinity", "√": "the square root of", "∛": "the cube root of", "∑": "the sum of",
    "∫": "the integral of", "∏": "the product of", "∈": "in", "∉": "not in", "∪": "union", "∩": "intersection", "⊂": "is a subset of", "⊆": "is a subset of",
    "∀": "for all", "∃": "there exists", "∂": "partial", "∇": "nabla", "⁄": "over", "∓": "minus or plus", "⊥": "is perpendicular to", "∠": "angle",
}  # fmt: skip
_ALONE = {"&": "and", "@": "at", "%": "percent", "°": "degrees", "№": "number", "§": "section", "¶": "paragraph", "µ": "micro", "¢": "cents", "$": "dollars", "€": "euros", "£": "pounds", "¥": "yen", "‰": "per mille", "∞": "infinity", "∵": "because", "∴": "therefore", "∥": "is parallel to", "△": "triangle", "∅": "the empty set"}  # fmt: skip
_TITLES = {"Mr": "Mister", "Mrs": "Missus", "Dr": "Doctor", "Prof": "Professor", "St": "Saint", "Gen": "General", "Sgt": "Sergeant", "Capt": "Captain", "Lt": "Lieutenant", "Gov": "Governor", "Sen": "Senator", "Rep": "Representative", "Rev": "Reverend", "Mt": "Mount", "Ft": "Fort"}  # fmt: skip
_SHORT = {
    "e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "vs.": "versus", "vs": "versus", "approx.": "approximately", "w/o": "without", "w/": "with",
    "a.k.a.": "also known as", "aka": "also known as", "incl.": "including", "max.": "maximum", "min.": "minimum",
    "Ave.": "Avenue", "Blvd.": "Boulevard", "Rd.": "Road", "Ln.": "Lane", "Hwy.": "Highway", "Pkwy.": "Parkway", "Dept.": "Department", "dept.": "department", "Co.": "Company", "Corp.": "Corporation", "Bros.": "Brothers", "Assn.": "Association",
    "b/c": "because", "c/o": "care of", "approx": "approximately", "govt.": "government", "Govt.": "Government", "Univ.": "University", "Rm.": "Room", "Bldg.": "Building", "Fl.": "Floor", "Temp.": "Temperature", "Apt.": "Apartment", "Ste.": "Suite", "temp.": "temperature", "Fig.": "Figure", "fig.": "figure", "Figs.": "Figures", "Vol.": "Volume", "vol.": "volume",
    "Ch.": "Chapter", "Eq.": "Equation", "pp.": "pages", "et al.": "and others", "cf.": "compare", "ca.": "circa", "Inc.": "Incorporated", "Ltd.": "Limited", "Jr.": "Junior", "Sr.": "Senior",
}  # fmt: skip
_BEFORE_NUMBER = {"p": "page", "pg": "page", "ch": "chapter", "sec": "section", "Sec": "Section", "est": "established", "c": "circa", "num": "number", "ext": "extension", "Ext": "Extension", "tel": "telephone", "Tel": "Telephone", "par": "paragraph", "para": "paragraph", "ver": "version", "Ver": "Version", "art": "article", "Art": "Article", "eq": "equation", "eqs": "equations"}  # fmt: skip
_OR = frozenset(("he", "him", "his", "she", "her", "hers", "yes", "no", "true", "false", "on", "off", "male", "female", "man", "men", "woman", "women", "boy", "girl", "am", "pm", "win", "lose", "pass", "fail", "mr", "ms", "mrs", "black", "white", "left", "right", "up", "down", "day", "night", "buy", "sell", "hot", "cold", "himself", "herself", "boys", "girls", "mother", "father", "parent", "guardian", "husband", "wife", "brother", "sister", "son", "daughter"))  # fmt: skip
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


def _slashes(found: re.Match[str]) -> str:
    """Words with slashes between: a choice, letters, a list of names, or the sign is said."""
    words = found.group().split("/")
    small = {word.lower() for word in words}
    if small == {"and", "or"}:
        return " ".join(words)
    if small <= _OR:
        return " or ".join(words)
    if all(word.isupper() for word in words):
        return " ".join(words)
    if len(words) > 2 or all(word[:1].isupper() for word in words):
        return ", ".join(words)
    return " slash ".join(words)


def _about(found: re.Match[str]) -> str:
    """A tilde before a number, unless the word for it is there."""
    words = ("about", "around", "roughly", "nearly", "almost", "approximately", "some")
    return "" if found.string[: found.start()].rstrip().lower().endswith(words) else "about "


def _letters(found: re.Match[str]) -> str | None:
    """``x - y``, ``x * y`` in a formula."""
    if found[2] != "*" and " " not in found.group():
        return None
    return f"{found[1]} {({'-': 'minus', '*': 'times', '/': 'over'})[found[2]]} "


def _before_number(found: re.Match[str]) -> str:
    return f"{_BEFORE_NUMBER[found[1]]} "


def _street(found: re.Match[str]) -> str:
    """``St.`` behind a name is a street; the stop may be the sentence's too."""
    return "Street" + ("" if found.string[found.end() :].strip("\"')”’ ") else ".")


BEFORE_NUMBERS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(rf"(?<![\w.+#])(?:{_NAME_WORDS})(?![\w+#])"), lambda found: _NAMES[found.group()]),
    (re.compile(r"(?<=[a-z] )St\.(?!\s?[A-Z])"), _street),
    (re.compile(rf"\b({'|'.join(_TITLES)})\. ?(?=[A-Z&])"), lambda found: f"{_TITLES[found[1]]} "),
    (re.compile(rf"(?<![\w.])({'|'.join(_BEFORE_NUMBER)})\.\s?(?=\d)"), _before_number),
    (re.compile(r"(?<![\w)(])(\d{1,2})\)\s(?![-+*/=<>])"), lambda found: f"{found[1]}, "),
    (re.compile(r"\b(Nos?|nos?)\.\s?(?=\d)"), lambda found: f"{found[1][0]}umber{'s' if found[1].endswith('s') else ''} "),
    (re.compile(r"(?<=[Pp]ress )#(?!\w)|(?<=\bthe )#(?= key)|(?<=\bor )#(?![\w#])"), lambda _: "pound"),
    (re.compile(r"(?<=\d)#(?!\w)"), lambda _: " pound"),
    (re.compile(r"(?<=[Dd]ial )\*(?=\d)"), lambda _: "star "),
    (re.compile(r"(?<=[A-Za-z]{2})\s>\s(?=[A-Z][A-Za-z])"), lambda _: ", "),
    (re.compile(r"(?<=[A-Za-z]),(?=[A-Za-z])"), lambda _: ", "),
    (re.compile(r"(?<![\w&])[#№]\s?(?=\d)"), lambda _: "number "),
    (re.compile(r"(?<![\w&#])#(?=[A-Za-z])"), lambda _: ""),
    (re.compile(r"§\s?(?=\d)"), lambda _: "section "),
    (re.compile(rf"(?<![\w.])(?:{_SHORT_WORDS})(?!\w)"), _short),
)  # fmt: skip
ABOUT: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"[↑▲](?=\s?[\d$€£])"), lambda _: "up "),
    (re.compile(r"[↓▼](?=\s?[\d$€£])"), lambda _: "down "),
    (re.compile(r"(?<![\w~])(?<![\d)] )[~～∼]\s?(?=[\d$€£.])"), _about),
)
"""Before a number that has a unit behind it."""
AFTER_NUMBERS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"(?<![\w/.])(?!w/)[A-Za-z']{1,20}(?:/[A-Za-z']{1,20}){1,6}(?![\w/])"), _slashes),
    (re.compile(r"\b([a-z])\s?([-*/])\s?(?=[a-z]\b(?!'))"), _letters),
    (re.compile(r"(?<=\w)/(?=\w)"), " slash "),
    (maths.GREEK, maths.greek),
    (re.compile(r"(?<=[a-z])\+\+(?!\w)"), " plus plus"),
    (re.compile(r"(?<=[a-z])\+(?=[\s,.;:!?)]|\Z)"), " plus"),
    (re.compile(r"(?<=\w)(?:'s)?@(?=\w)"), lambda _: " at "),
    (re.compile(r"(?<!\w)@(?=\w)"), lambda _: ""),
    (re.compile(rf"\s*(?<![<>=+\-→])(?:{_COMPARE})(?![<>=+\-→])\s*(?=[\w(\"'$√∛∑∫∏∂∞\[{{-])"), lambda found: f" {_COMPARED[found.group().strip()]} "),
    (re.compile(rf"(?<![{re.escape(''.join(_ALONE))}])[{re.escape(''.join(_ALONE))}](?![{re.escape(''.join(_ALONE))}])"), lambda found: f" {_ALONE[found.group()]} "),
    (re.compile(r"[~～^|\\<>{}=•·■□▪◦©®™†‡¤¦ªº←↑→↓↔⇒✓✔✗✘★☆●○◆◇\[\]]+"), lambda _: " "),
)  # fmt: skip
