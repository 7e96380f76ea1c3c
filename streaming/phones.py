"""What is pinyin and what is ARPAbet, as a client may write it.

Knows: the spelling of single sounds. Does not know: lexicons, models, how anything is pronounced.
"""

from __future__ import annotations

import re
import unicodedata

_VOWELS = "AA|AE|AH|AO|AW|AY|EH|ER|EY|IH|IY|OW|OY|UH|UW"
_CONSONANTS = "B|CH|D|DH|F|G|HH|JH|K|L|M|N|NG|P|R|S|SH|T|TH|V|W|Y|Z|ZH"
_SOUND = re.compile(rf"(?:{_VOWELS})[0-2]?|{_CONSONANTS}", re.IGNORECASE)

_INITIAL = "(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])?"
_FINAL = (
    "iang|iong|uang|ueng|iao|ian|ang|eng|ing|ong|uai|uan|[vü]an|ai|ei|ui|ao|ou|iu|ie|ue|[vü]e|er|"
    "an|en|in|un|[vü]n|ia|ua|uo|a|o|e|ê|i|u|v|ü"
)
_SYLLABLE = re.compile(
    rf"(?:{_INITIAL}(?:{_FINAL})|hng|hm|ng|m|n)r?[0-5]?", re.IGNORECASE
)  # 0 and 5 are the light tone


def arpabet_fault(phones: str) -> str | None:
    """What of it is no ARPAbet, in words; None where all of it is: ``JH IH1 F``."""
    wrong = [sound for sound in phones.split() if not _SOUND.fullmatch(sound)]
    return f"{wrong[0]!r} is no ARPAbet sound; write them as in 'JH IH1 F'" if wrong else None


ARPABET_VOWELS, ARPABET_CONSONANTS = _VOWELS, _CONSONANTS

_RESPELLED = {
    "AA": "ah", "AE": "a", "AH": "u", "AO": "aw", "AW": "ow", "AY": "y", "EH": "e", "ER": "er",
    "EY": "ay", "IH": "i", "IY": "ee", "OW": "oh", "OY": "oy", "UH": "oo", "UW": "oo",
    "DH": "th", "HH": "h", "JH": "j",
}  # fmt: skip


def respelled(phones: str) -> str:
    """``M AY0 N UW1 T``: mynoot; for voices that take letters alone."""
    sounds = (sound.rstrip("012").upper() for sound in phones.split())
    return "".join(_RESPELLED.get(sound, sound.lower()) for sound in sounds)


def pinyin_fault(syllables: str) -> str | None:
    """What of it is no pinyin, in words; tones are digits here: ``chong2 qing4``."""
    wrong = [each for each in syllables.split() if not _SYLLABLE.fullmatch(each)]
    return f"{wrong[0]!r} is no syllable of pinyin; write them as in 'hao3'" if wrong else None


_MARKS = {"\u0304": 1, "\u0301": 2, "\u030c": 3, "\u0300": 4}
NEUTRAL_TONE = 5


def numbered(pinyin: str) -> str:
    """``hào``: hao4; syllables with blanks between; what has digits already stays."""
    return " ".join(_numbered(syllable) for syllable in pinyin.lower().split())


def _numbered(syllable: str) -> str:
    if syllable[-1].isdigit():
        return syllable
    tone, plain = NEUTRAL_TONE, ""
    for char in unicodedata.normalize("NFD", syllable):
        if char in _MARKS:
            tone = _MARKS[char]
        elif char == "\u0308":
            plain = f"{plain[:-1]}v"
        else:
            plain += char
    return f"{plain}{tone}"
