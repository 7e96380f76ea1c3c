"""The phonemes of a syllable, in the letters that the model was trained on.

Those are misaki's for Mandarin: affricates are one letter, the tone is an arrow behind the nucleus
and before a nasal coda, the neutral tone has none. Knows: the two tables of initials and finals.
Does not know: characters, tone sandhi.
"""

from __future__ import annotations

from streaming.runners.mandarin.syllable import Syllable

TONES = {1: "→", 2: "↗", 3: "↓", 4: "↘", 5: ""}

_INITIALS = {
    "": "",
    "b": "p",
    "p": "pʰ",
    "m": "m",
    "f": "f",
    "d": "t",
    "t": "tʰ",
    "n": "n",
    "l": "l",
    "g": "k",
    "k": "kʰ",
    "h": "x",
    "j": "ʨ",
    "q": "ʨʰ",
    "x": "ɕ",
    "zh": "ꭧ",
    "ch": "ꭧʰ",
    "sh": "ʂ",
    "r": "ɻ",
    "z": "ʦ",
    "c": "ʦʰ",
    "s": "s",
}
# The tone stands where the underscore is.
_FINALS = {
    "a": "a_",
    "ai": "ai_",
    "an": "a_n",
    "ang": "a_ŋ",
    "ao": "au_",
    "e": "ɤ_",
    "ei": "ei_",
    "en": "ə_n",
    "eng": "ə_ŋ",
    "er": "ɚ_",
    "ê": "ɛ_",
    "i": "i_",
    "ia": "ja_",
    "iai": "jai_",
    "ian": "jɛ_n",
    "iang": "ja_ŋ",
    "iao": "jau_",
    "ie": "je_",
    "in": "i_n",
    "ing": "i_ŋ",
    "io": "jɔ_",
    "iong": "jʊ_ŋ",
    "iou": "jou_",
    "o": "wo_",
    "ong": "ʊ_ŋ",
    "ou": "ou_",
    "u": "u_",
    "ua": "wa_",
    "uai": "wai_",
    "uan": "wa_n",
    "uang": "wa_ŋ",
    "uei": "wei_",
    "uen": "wə_n",
    "ueng": "wə_ŋ",
    "uo": "wo_",
    "ü": "y_",
    "üan": "ɥɛ_n",
    "üe": "ɥe_",
    "ün": "y_n",
    "m": "m_",
    "n": "n_",
    "ng": "ŋ_",
    "hm": "hm_",
    "hng": "hŋ_",
}
_APICAL = "ɨ_"
"""The vowel of ``zi`` and ``zhi``."""

# What is left of a final when an r grows onto it; any other takes the r at its end.
_RHOTIC = {
    "ai": "a_",
    "an": "a_",
    "ang": "a_",
    "ei": "ə_",
    "en": "ə_",
    "eng": "ə_",
    "ian": "ja_",
    "iang": "ja_",
    "in": "i_",
    "ing": "i_",
    "iong": "jʊ_",
    "ong": "ʊ_",
    "uai": "wa_",
    "uan": "wa_",
    "uang": "wa_",
    "uei": "wə_",
    "uen": "wə_",
    "ueng": "wə_",
    "üan": "ɥa_",
    "ün": "y_",
}


def to_ipa(syllable: Syllable) -> str:
    """Its phonemes, tone included.

    Raises:
        KeyError: no Mandarin syllable has that initial or final.
    """
    initial, final = syllable.initial, syllable.final
    apical = final == "i" and initial in {"zh", "ch", "sh", "r", "z", "c", "s"}
    sounds = _APICAL if apical else _FINALS[final]
    if final == "o" and not initial:  # the interjection; bo, po, mo, fo have a glide
        sounds = "ɔ_"
    if syllable.rhotic:
        sounds = "ɚ_" if apical else _RHOTIC.get(final, sounds) + "ɚ"
    return _INITIALS[initial] + sounds.replace("_", TONES[syllable.tone])
