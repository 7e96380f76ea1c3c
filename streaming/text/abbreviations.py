# ruff: noqa: RUF001 - the curly apostrophe is meant
"""English words that end in a full stop without ending the sentence, and what tells when they do.

Knows: lists of words. Does not know: where in a text they stand.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["never", "number", "reference", "open", "ender"]
"""``never`` ends a sentence; ``number``: does so unless a number follows; ``reference``: the same,
nor before a small letter; ``open``: only before a word that begins sentences; ``ender``: before any
capital that is no date or time zone."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER = _words(
    "Mr Mrs Ms Mx Dr Prof Messrs Mme Mlle Rev Hon Gen Sen Rep Gov Pres Capt Cpt Lt Col Sgt Maj "
    "Cmdr Adm Supt Fr Mt Ft e.g i.e vs cf viz"
)
_SHOUTED = _words("MR MRS MS DR PROF")
_NUMBER = _words("No Nos no nos Num num Art Op Sec Max max")
_REFERENCE = _words(
    "Nr Fig Figs fig figs Eq Eqs eq eqs Ch ch Vol vol pp approx ca Ver ver Tel tel Ext ext para "
    "par Apt Ste Rm Bldg Fl Mk temp Temp"
)
_ENDER = _words("etc a.m p.m A.M P.M min mins sec secs hr hrs lb lbs oz ft yd tbsp tsp")
_OPEN = _words(
    "al Inc Ltd Co Corp Jr Sr Bros Dept dept est Ave Blvd Rd St Univ govt "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat "
    "Sun"
)
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}\Z")

_STARTERS = _words(
    "a an the this that these those it he she we they you i there here but and or so then when "
    "while if what who where why how which my our your his her their its no yes for from in on at "
    "to of by with as after before during since until although because however all some many most "
    "one each both every now today please let do does did is are was were can could would should "
    "will may not next first second finally meanwhile also it's he's she's we're they're you're "
    "i'm i've i'll i'd that's there's here's what's let's don't we've they've"
)
_AFTER_TIME = _words(
    "Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun "
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May "
    "June July August September October November December Eastern Pacific Central Mountain "
    "Greenwich EST EDT CST CDT MST MDT PST PDT GMT UTC CET BST ET PT CT"
)


GERMAN_MONTHS = _words(
    "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember"
)
BEFORE_GERMAN_DAY = _words("am vom zum bis den dem der seit ab Am Vom Zum Bis Den Der Seit Ab")
"""Behind one of these a number with a stop is the day of a month that follows."""


def kind(word: str) -> Kind | None:
    """What the word before a full stop is (without that stop), or None for an ordinary word."""
    if word in _NEVER or word.lower() in {"e.g", "i.e"} or word in _SHOUTED:
        return "never"
    if word in _NUMBER:
        return "number"
    if word in _REFERENCE:
        return "reference"
    if word in _ENDER or word == "I":
        return "ender"
    single = len(word) == 1 and word.isalpha()
    return "open" if single or word in _OPEN or _DOTTED.match(word) else None


def roman(word: str) -> bool:
    """Whether it may be a numeral, as behind ``vol.``."""
    return word != "" and not word.strip("IVXLC")


def begins_sentence(word: str, after: Kind) -> bool:
    """Whether this word, after an abbreviation of that kind, begins a new sentence."""
    if not word[:1].isupper():
        return False
    if word.replace("’", "'").lower() in _STARTERS:
        return True
    return after == "ender" and word not in _AFTER_TIME
