"""Roman numerals in English: which capitals are one, and whether it counts or ranks.

Knows: names that numerals follow. Does not know: sentences. A numeral of one letter needs a name
before it that is known; a longer one made of I, V and X any name.
"""

from __future__ import annotations

import re

from streaming.text.normal.english_numbers import cardinal, ordinal

_RANKED = (
    "Elizabeth|Henry|Louis|George|Charles|Edward|William|Richard|James|Mary|Anne|Victoria|Philip|"
    "Felipe|Juan|Carlos|Alfonso|Fernando|Ferdinand|Isabella|Catherine|Peter|Ivan|Nicholas|Alexander|"
    "Frederick|Friedrich|Wilhelm|Otto|Rudolf|Franz|Francis|Joseph|Leopold|Albert|Baudouin|Gustav|"
    "Christian|Harald|Haakon|Olav|Margrethe|Napoleon|Ramses|Ramesses|Ptolemy|Cleopatra|Darius|Xerxes|"
    "Cyrus|Artaxerxes|Antiochus|Constantine|Theodosius|Justinian|Basil|Mehmed|Selim|Murad|Suleiman|"
    "Abdul|Abdullah|Hussein|Hassan|Mohammed|Muhammad|Pius|Leo|Benedict|Gregory|Clement|Innocent|Urban|"
    "Paul|John|Sixtus|Julius|Boniface|Celestine|Adrian|Stephen|Robert|David|Kenneth|Thutmose|"
    "Amenhotep|Seti|Sargon|Nebuchadnezzar|Pedro|Manuel|Afonso|Umberto|Vittorio|Emmanuel|Rainier|Rama|"
    "Pope|King|Queen|Emperor|Tsar"
)
_COUNTED = (
    "Part|Chapter|Volume|Vol\\.?|vol\\.|Book|Section|Sect?\\.|Act|Scene|Article|Art\\.|Title|Phase|Type|Class|"
    "Grade|Level|Stage|Step|Appendix|Figure|Fig\\.|Table|Canto|Episode|Season|Round|Group|Division|Tier|"
    "Mark|Mk\\.|Model|Schedule|Annex|Item|Unit|Lesson|Exhibit|War|Apollo|Gemini|Saturn|Bowl|Olympiad|Factor|"
    "part|chapter|volume|book|section|act|scene|article|phase|type|class|stage|level|table|figure|"
    "appendix|Quest|Symphony|Sonata|Opus|Concerto|Fantasy|Rocky|Henry"
)
_NUMERAL = r"(?=[IVXLCM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_AFTER = r"(?![\w-]|['’](?!s\b)|\.[\w])"
RANKED = re.compile(rf"\b({_RANKED})\s({_NUMERAL}){_AFTER}")
COUNTED = re.compile(rf"\b({_COUNTED})\s({_NUMERAL}){_AFTER}")
CENTURY = re.compile(rf"\b({_NUMERAL})(?:th)?(?=[\s-]century|\scenturies)")
NAMED = re.compile(
    rf"\b(?!(?:The|An?|Is|Are|In|On|And|Or|But|If|Of|My|Our|Your|No|Yes|For|With|By|At|To|This|That|Your|Her|His|Its)\b)([A-Z][a-z]{{2,}})\s((?=[IVX]{{2}})X{{0,3}}(?:IX|IV|V?I{{0,3}})){_AFTER}"
)
SMALL = re.compile(
    r"\b([Aa]ct|[Ss]cene|[Ss]ection|[Pp]age|[Cc]hapter|[Pp]art|[Vv]olume|[Bb]ook|[Tt]ype|[Ii]tem|[Ss]tep)\s"
    r"(ii|iii|iv|vi{1,3}|ix|xi{0,3}|xiv|xv|v)(?![\w'’-]|\.\w)"
)
"""Small numerals count only behind a name of parts."""
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def value(numeral: str) -> int:
    """``IV``: 4."""
    total = 0
    for index, char in enumerate(numeral):
        one = _VALUES[char]
        more = index + 1 < len(numeral) and _VALUES[numeral[index + 1]] > one
        total += -one if more else one
    return total


def say_ranked(found: re.Match[str]) -> str | None:
    """``Elizabeth II``: the second; ``King I`` is someone who speaks of himself."""
    title = found[1] in {"Pope", "King", "Queen", "Emperor", "Tsar"}
    if (
        title
        and found[2] == "I"
        and re.match(r"\s[a-z]", found.string[found.end() : found.end() + 2])
    ):
        return None
    return f"{found[1]} the {ordinal(value(found[2]))}"


def say_counted(found: re.Match[str]) -> str | None:
    """``Part IV``: Part four."""
    if (
        found[2] == "I"
        and re.match(r"\s[a-z]", found.string[found.end() : found.end() + 2])
        and found[1].islower()
    ):
        return None
    return f"{found[1]} {cardinal(value(found[2]))}"


def say_small(found: re.Match[str]) -> str:
    """``scene ii``: scene two."""
    return f"{found[1]} {cardinal(value(found[2].upper()))}"


def say_century(found: re.Match[str]) -> str:
    """``XIX century``: nineteenth."""
    return ordinal(value(found[1]))
