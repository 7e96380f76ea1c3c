"""How words are to be said: entries of the server, of a voice and of a context.

An entry's words are put in for the text it names, untouched by any other rule. Where it gives
phones (pinyin, ARPAbet), they go along for the models that take them. Knows: matching, pinyin
written in the text. Does not know: models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from streaming.phones import (
    ARPABET_CONSONANTS,
    ARPABET_VOWELS,
    numbered,
    pinyin_fault,
    respelled,
)
from streaming.segment import LexiconEntry, Pronunciation
from streaming.text.normal.aligned import Aligned
from streaming.text.normal.homophones import character

_FIRST_HIDDEN = 0xE000
_HIDDEN = re.compile("[\ue000-\uefff]")
_PRIVATE = re.compile("[\ue000-\uf8ff\ufffc\ufffd\U000f0000-\U0010fffd]")
_MOST_HIDDEN = 0x1000
_LATIN = r"A-Za-z0-9_\u00c0-\u024f"
_INITIAL = "zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw]"
_TONED = "[a-zāáǎàēéěèīíǐìōóǒòūúǔùüǖǘǚǜńňǹḿ]"
_INLINE = re.compile(
    rf"\[({_INITIAL})\]\[({_TONED}{{1,5}})\]|\[({_TONED}{{0,3}}[āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]{_TONED}{{0,3}})\]"
)

_SOUND = rf"\[(?:(?:{ARPABET_VOWELS})[0-2]?|{ARPABET_CONSONANTS})\]"
_INLINE_ARPABET = re.compile(rf"(?=(?:\[\w+\])*?\[(?:{ARPABET_VOWELS})[0-2]?\])(?:{_SOUND}){{2,}}")
"""``[M][AY0][N][UW1][T]``; one in brackets alone may be anything."""


class Kept:
    """What was hidden from the rules in one segment."""

    def __init__(self, aligned: Aligned) -> None:
        aligned.sub(_PRIVATE, "")
        self._entries: list[LexiconEntry] = []

    def hide(self, entry: LexiconEntry | None) -> str | None:
        """One character that no rule touches, for this entry; None where there are too many."""
        if entry is None or len(self._entries) == _MOST_HIDDEN:
            return None
        self._entries.append(entry)
        return chr(_FIRST_HIDDEN + len(self._entries) - 1)

    def show(self, aligned: Aligned) -> tuple[Pronunciation, ...]:
        """Put the words in; where phones go along, say for which stretch of the text."""
        out: list[Pronunciation] = []
        grown = 0

        def make(found: re.Match[str]) -> str:
            nonlocal grown
            entry = self._entries[ord(found.group()) - _FIRST_HIDDEN]
            begin = found.start() + grown
            grown += len(entry.say) - 1
            end = begin + len(entry.say)
            if entry.pinyin:
                out.append(Pronunciation(begin, end, "pinyin", entry.pinyin))
            if entry.arpabet:
                out.append(Pronunciation(begin, end, "arpabet", entry.arpabet))
            return entry.say

        if self._entries:
            aligned.sub(_HIDDEN, make)
        return tuple(out)


class Lexicon:
    """Entries in one order of precedence: later ones win over those for the same text."""

    def __init__(self, entries: Iterable[LexiconEntry]) -> None:
        self._entries = {entry.text: _complete(entry) for entry in entries}
        longest_first = sorted(self._entries, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_word, longest_first))) if longest_first else None

    @property
    def has_phrases(self) -> bool:
        """Whether a text of an entry is more than one word: it is found in one piece alone."""
        return any(" " in text for text in self._entries)

    def hide(self, aligned: Aligned, kept: Kept, *, han: bool = True) -> None:
        """Put a placeholder for every word of the lexicon, and for phones in the text.

        ``han``: whether the voice could read a character in place of pinyin.
        """
        if "[" in aligned.text:
            aligned.sub(_INLINE_ARPABET, lambda found: kept.hide(_inline_arpabet(found)))
            aligned.sub(_INLINE, lambda found: kept.hide(_inline(found, han=han)))
        if self._pattern is not None:
            aligned.sub(self._pattern, lambda found: kept.hide(self._entries[found.group()]))


NO_LEXICON = Lexicon(())


@lru_cache(maxsize=256)
def layered(*levels: Sequence[LexiconEntry]) -> Lexicon:
    """The lexicon of several levels, the last one the strongest."""
    return Lexicon(entry for level in levels for entry in level)


def _word(text: str) -> str:
    """Latin words whole, other writing wherever it stands."""
    before = rf"(?<![{_LATIN}])" if re.match(f"[{_LATIN}]", text) else ""
    after = rf"(?![{_LATIN}])" if re.search(rf"[{_LATIN}]\Z", text) else ""
    return before + re.escape(text) + after


def _complete(entry: LexiconEntry) -> LexiconEntry:
    """Its written form is spoken where it gives phones alone; tones are digits from here on."""
    return LexiconEntry(
        text=entry.text,
        say=entry.say or entry.text,
        pinyin=numbered(entry.pinyin),
        arpabet=entry.arpabet.upper(),
    )


def _inline(found: re.Match[str], *, han: bool) -> LexiconEntry | None:
    """The syllable written there, a character for those who take no phones; None if it is none."""
    syllable = numbered(f"{found[1] or ''}{found[2] or found[3]}")
    if pinyin_fault(syllable):
        return None
    plain = (character(syllable) if han else None) or _letters(syllable)
    return LexiconEntry(text=found.group(), say=_apart(plain, found), pinyin=syllable)


def _inline_arpabet(found: re.Match[str]) -> LexiconEntry:
    phones = " ".join(re.findall(r"\w+", found.group()))
    return LexiconEntry(text=found.group(), say=_apart(respelled(phones), found), arpabet=phones)


def _letters(syllable: str) -> str:
    """Pinyin without its tone, for those who read letters: ``v1``: yu, ``lv4``: lu."""
    plain = re.sub(r"\d", "", syllable)
    return re.sub("v", "u", re.sub(r"\Av", "yu", plain))


def _apart(plain: str, found: re.Match[str]) -> str:
    """With a blank before it where letters would run into it; letters after it are its ending."""
    letter = re.compile(f"[{_LATIN}]")
    before = found.string[: found.start()][-1:]
    return f" {plain}" if letter.match(before) and letter.match(plain) else plain
