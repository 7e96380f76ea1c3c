"""A Mandarin syllable: initial, final, tone, as pinyin spells them; and a word made of some.

Knows: pinyin's spelling (``yu`` is ``ü``, ``liu`` is ``liou``). Does not know: which character is
read how, sounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

NEUTRAL = 5

_INITIALS = ("zh", "ch", "sh", *"bpmfdtnlgkhjqxrzcs")
_ZERO_INITIAL = {
    "yi": "i",
    "ya": "ia",
    "yo": "io",
    "ye": "ie",
    "yai": "iai",
    "yao": "iao",
    "you": "iou",
    "yan": "ian",
    "yin": "in",
    "yang": "iang",
    "ying": "ing",
    "yong": "iong",
    "yu": "ü",
    "yue": "üe",
    "yuan": "üan",
    "yun": "ün",
    "wu": "u",
    "wa": "ua",
    "wo": "uo",
    "wai": "uai",
    "wei": "uei",
    "wan": "uan",
    "wen": "uen",
    "wang": "uang",
    "weng": "ueng",
    "wong": "ong",
}
_SHORT = {"iu": "iou", "ui": "uei", "un": "uen"}
_AFTER_JQX = {"u": "ü", "ue": "üe", "uan": "üan", "un": "ün"}
_WITHOUT_VOWEL = frozenset({"m", "n", "ng", "hm", "hng"})


@dataclass(frozen=True)
class Syllable:
    """``final`` is written in full: ``iou``, ``uei``, ``uen``, ``ü``; ``tone`` is 1 to 5."""

    initial: str
    final: str
    tone: int
    rhotic: bool = False
    """Whether an r has grown onto its final (erhua)."""


@dataclass(frozen=True)
class HanWord:
    """A word and its syllables; fewer than characters where an r has grown onto one."""

    text: str
    syllables: tuple[Syllable, ...]


def parse(pinyin: str) -> Syllable:
    """The syllable that pinyin with a tone digit spells: ``zhong4``, ``lv3``, ``er2``.

    Raises:
        ValueError: it has no tone digit, or spells nothing.
    """
    spelling, digit = pinyin[:-1].replace("v", "ü"), pinyin[-1:].replace("0", "5")
    if spelling.endswith("r") and spelling not in {"r", "er"}:
        return replace(parse(f"{spelling[:-1]}{digit}"), rhotic=True)
    if digit not in {"1", "2", "3", "4", "5"} or not spelling:
        raise ValueError(f"{pinyin!r} is no pinyin with a tone from 1 to 5")
    tone = int(digit)
    if spelling in _WITHOUT_VOWEL or spelling[0] in "aoeê":
        return Syllable("", spelling, tone)
    if spelling in _ZERO_INITIAL:
        return Syllable("", _ZERO_INITIAL[spelling], tone)
    initial = next((each for each in _INITIALS if spelling.startswith(each)), "")
    final = spelling[len(initial) :]
    if not initial or not final:
        raise ValueError(f"{pinyin!r} is no pinyin with a tone from 1 to 5")
    if initial in "jqx":
        final = _AFTER_JQX.get(final, final)
    if initial in "nl" and final == "ue":  # how lüe is often typed
        final = "üe"
    return Syllable(initial, _SHORT.get(final, final), tone)
