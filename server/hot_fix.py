"""A lexicon in the form that DashScope's clients send: ``hot_fix``.

``pronunciation`` says how words are read, in pinyin with tone digits, and ``replace`` what is said
in their place; each is a list of objects, a word each. Knows: that form. Does not know: our own,
beyond the entries it becomes.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from streaming.phones import numbered, pinyin_fault
from streaming.segment import LEXICON_ENTRIES, LexiconEntry

_Word = Annotated[str, Meta(min_length=1, max_length=64)]
_Said = Annotated[str, Meta(min_length=1, max_length=256)]


class HotFix(msgspec.Struct, frozen=True, kw_only=True):
    """``{"pronunciation": [{"天气": "tian1 qi4"}], "replace": [{"今天": "金天"}]}``."""

    pronunciation: tuple[dict[_Word, _Said], ...] = ()
    replace: tuple[dict[_Word, _Said], ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError where it has too many words, or pinyin that is none."""
        many = sum(len(each) for each in (*self.pronunciation, *self.replace))
        if many > LEXICON_ENTRIES:
            raise ValueError(f"expected at most {LEXICON_ENTRIES} words, found {many}")
        for each in self.pronunciation:
            for syllables in each.values():
                if fault := pinyin_fault(numbered(syllables)):
                    raise ValueError(fault)

    def entries(self) -> tuple[LexiconEntry, ...]:
        """The same as entries of a lexicon; a word that is in both is replaced and read so."""
        said = {word: say for each in self.replace for word, say in each.items()}
        read = {word: pinyin for each in self.pronunciation for word, pinyin in each.items()}
        return tuple(
            LexiconEntry(text=word, say=said.get(word, ""), pinyin=read.get(word, ""))
            for word in {**said, **read}
        )


Lexicon = Annotated[tuple[LexiconEntry, ...], Meta(max_length=LEXICON_ENTRIES)] | HotFix
"""A context's lexicon as a request may have it."""


def entries_of(lexicon: Lexicon) -> tuple[LexiconEntry, ...]:
    """The entries, in whichever form they came."""
    return lexicon.entries() if isinstance(lexicon, HotFix) else lexicon
