"""The text tokens that CosyVoice adds to Qwen2's, in the order that gives them their ids.

The published weights were trained with these ids, so the order is part of the format: each
token's id is ``FIRST`` and its place in the list. Version 3 goes on where version 2 ends.
Knows: the tokens. Does not know: which of them a text may use.
"""

from __future__ import annotations

from typing import Final

from streaming.cosyvoice.sizes import Generation

FIRST: Final = 151643
"""The id after those of Qwen2's own vocabulary."""

_QWEN = "<|endoftext|> <|im_start|> <|im_end|>"
_MARKS = (
    "<|endofprompt|> [breath] <strong> </strong> [noise] [laughter] [cough] [clucking] [accent] "
    "[quick_breath] <laughter> </laughter> [hissing] [sigh] [vocalized-noise] [lipsmack] [mn]"
)
MARKS: Final = tuple(mark for mark in _MARKS.split() if not mark.startswith("<|"))
"""Those that a text may hold: sounds, and the beginnings and ends of stretches."""
_SYSTEM = "<|endofsystem|>"

_ARPABET = (
    "AA* AE* AH* AO* AW* AY* B CH D DH EH* ER* EY* F G HH IH* IY* JH K L M N NG OW* OY* P R S SH "
    "T TH UH* UW* V W Y Z ZH"
)
"""A star marks a vowel: it also stands with each of the stresses 0, 1 and 2."""

_PINYIN = (
    "a ai an ang ao b c ch d e ei en eng f g h i ian in ing iu ià iàn iàng iào iá ián iáng iáo iè "
    "ié iòng ióng iù iú iā iān iāng iāo iē iě iōng iū iǎ iǎn iǎng iǎo iǒng iǔ j k l m n o ong ou p "
    "q r s sh t u uang ue un uo uà uài uàn uàng uá uái uán uáng uè ué uì uí uò uó uā uāi uān uāng "
    "uē uě uī uō uǎ uǎi uǎn uǎng uǐ uǒ vè w x y z zh à ài àn àng ào á ái án áng áo è èi èn èng èr "
    "é éi én éng ér ì ìn ìng í ín íng ò òng òu ó óng óu ù ùn ú ún ā āi ān āng āo ē ēi ēn ēng ě ěi "
    "ěn ěng ěr ī īn īng ō ōng ōu ū ūn ǎ ǎi ǎn ǎng ǎo ǐ ǐn ǐng ǒ ǒng ǒu ǔ ǔn ǘ ǚ ǜ"
)
"""Initials, and finals with their tones, as the published list orders them."""


def _arpabet() -> list[str]:
    phones = []
    for phone in _ARPABET.split():
        ends = ("", "0", "1", "2") if phone.endswith("*") else ("",)
        phones += [f"[{phone.removesuffix('*')}{stress}]" for stress in ends]
    return phones


def special_tokens(generation: Generation) -> dict[str, int]:
    """Every special token of a generation with its id, in order."""
    names = [*_QWEN.split(), *_MARKS.split()]
    if generation == "cosyvoice3":
        names += [_SYSTEM, *_arpabet(), *(f"[{sound}]" for sound in _PINYIN.split())]
    return {name: FIRST + place for place, name in enumerate(names)}
