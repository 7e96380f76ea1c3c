"""A segment's text as the model reads it: marks kept, phones in place of words where it has some.

Version 3 takes ``她[h][ào]干净`` and ``[M][AY0][N][UW1][T]``; version 2 speaks what is written.
Sources: the published list of special tokens; Hanyu Pinyin's rules for where the tone mark stands.
Knows: phones. Does not know: token ids, how a lexicon finds words.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

from streaming.cosyvoice.prompt.texts import without_control
from streaming.cosyvoice.sizes import Generation
from streaming.cosyvoice.special_tokens import special_tokens
from streaming.segment import Pronunciation, Segment

_TONES = ("", "\u0304", "\u0301", "\u030c", "\u0300", "")
"""Combining marks by tone digit; 0 and 5 are the light tone, which has none."""

_INITIALS = ("zh", "ch", "sh", *"bpmfdtnlgkhjqxrzcsyw")
_DIGRAPHS = {"u:": "v", "ü": "v"}


@dataclass(frozen=True)
class Spelled:
    """What the model is given."""

    text: str
    unheeded: tuple[Pronunciation, ...] = ()
    """Those for which it has no phones: their words stand as they were."""


def spell(segment: Segment, generation: Generation) -> Spelled:
    """``segment.text`` for that generation's tokenizer."""
    text, pieces, unheeded, at = segment.text, [], [], 0
    for said in sorted(segment.pronunciations, key=lambda said: (said.begin, said.alphabet)):
        phones = _phones(said, generation) if said.begin >= at else None
        if phones is None:
            unheeded.append(said)
            continue
        pieces += [without_control(text[at : said.begin]), phones]
        at = said.end
    pieces.append(without_control(text[at:]))
    return Spelled("".join(pieces), tuple(unheeded))


def pinyin(syllable: str) -> str | None:
    """``hao4``: ``[h][ào]``; None where the model has no tokens for it."""
    plain, tone = syllable.lower()[:-1], syllable[-1:]
    if not tone or tone not in "012345":
        return None
    for written, letter in _DIGRAPHS.items():
        plain = plain.replace(written, letter)
    initial = next((known for known in _INITIALS if plain.startswith(known)), "")
    final = _marked(plain.removeprefix(initial), int(tone))
    return _known([initial, final] if initial else [final])


def arpabet(phones: str) -> str | None:
    """``M AY0 N UW1 T``: ``[M][AY0][N][UW1][T]``; None where one of them is no phone."""
    return _known(phones.upper().split())


def _phones(said: Pronunciation, generation: Generation) -> str | None:
    if generation != "cosyvoice3" or not said.phones.strip():
        return None
    if said.alphabet == "arpabet":
        return arpabet(said.phones)
    syllables = [pinyin(syllable) for syllable in said.phones.split()]
    return None if None in syllables else "".join(filter(None, syllables))


def _known(phones: list[str]) -> str | None:
    tokens = [f"[{phone}]" for phone in phones]
    return "".join(tokens) if tokens and all(token in _tokens() for token in tokens) else None


@cache
def _tokens() -> frozenset[str]:
    return frozenset(special_tokens("cosyvoice3"))


def _marked(final: str, tone: int) -> str:
    """A final with its tone's mark: on a or e, on the o of ou, else on the last vowel.

    The model's list writes ü as v where it bears no mark of its own: ``vè`` but ``ǚ``.
    """
    mark = _TONES[tone]
    vowels = [place for place, letter in enumerate(final) if letter in "aeiouv"]
    if not mark or not vowels:
        return final
    place = next((place for place in vowels if final[place] in "ae"), vowels[-1])
    if "ou" in final:
        place = final.index("o")
    letter = final[place].replace("v", "ü")
    marked = unicodedata.normalize("NFC", letter + mark)
    return final[:place] + marked + final[place + 1 :]
