"""ARPAbet as the letters that the embedded voices and Kokoro were trained on.

Those are misaki's: diphthongs are capitals (``A`` as in day, ``I`` as in my, ``O`` and British
``Q`` as in go, ``W`` as in now, ``Y`` as in boy), and the stress mark stands before its vowel.
Sources: the CMU dictionary's list of phones, misaki's list of letters. Knows: the two lists. Does
not know: words, how anything sounds.
"""
# ruff: noqa: RUF001, RUF002 - letters that look like others are the point

from __future__ import annotations

_STRESSES = {"1": "ˈ", "2": "ˌ"}
_CONSONANTS = {
    "B": "b", "CH": "ʧ", "D": "d", "DH": "ð", "F": "f", "G": "ɡ", "HH": "h", "JH": "ʤ", "K": "k",
    "L": "l", "M": "m", "N": "n", "NG": "ŋ", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ", "T": "t",
    "TH": "θ", "V": "v", "W": "w", "Y": "j", "Z": "z", "ZH": "ʒ",
}  # fmt: skip
_VOWELS = {
    "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "W", "AY": "I", "EH": "ɛ", "ER": "ɜɹ",
    "EY": "A", "IH": "ɪ", "IY": "i", "OW": "O", "OY": "Y", "UH": "ʊ", "UW": "u",
}  # fmt: skip
_BRITISH = {"AA": "ɑː", "AE": "a", "AO": "ɔː", "ER": "ɜː", "IY": "iː", "OW": "Q", "UW": "uː"}
_LIGHT = {"AH": "ə", "ER": "əɹ"}
_LIGHT_BRITISH = {"AH": "ə", "ER": "ə", "IY": "i", "UW": "u"}
"""Without stress a vowel may be another: the first of *about*, the last of *letter*."""


def to_misaki(phones: str, *, british: bool = False) -> str:
    """``JH IH1 F``: ʤˈɪf.

    Raises:
        KeyError: a sound that is none of ARPAbet's.
    """
    return "".join(_sound(phone, british=british) for phone in phones.upper().split())


def _sound(phone: str, *, british: bool) -> str:
    if phone in _CONSONANTS:
        return _CONSONANTS[phone]
    vowel, stress = phone.rstrip("012"), phone[-1]
    if stress not in _STRESSES:
        light = _LIGHT_BRITISH if british else _LIGHT
        return light.get(vowel) or (_BRITISH.get(vowel) if british else None) or _VOWELS[vowel]
    return _STRESSES[stress] + ((_BRITISH.get(vowel) if british else None) or _VOWELS[vowel])
