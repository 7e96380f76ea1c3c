"""A segment: a stretch of text to be spoken at once, with all that is known of how to speak it.

Plain data, which crosses process boundaries inside messages. Knows: which of the client's own
characters each word stands for. Does not know: how text is cut into segments, or how one is spoken.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from streaming.phones import arpabet_fault, numbered, pinyin_fault

Ending = Literal["sentence", "paragraph", "clause", "forced", "end"]
"""Why a segment stops where it does; it decides the pause that follows it."""

TextMode = Literal["auto", "sentence", "manual", "interleaved"]
"""Who releases text: the front end's judgement, whole sentences alone, or flush and end alone; or
it is given to a model that takes it in mid-sentence, as it comes."""

Reasoning = Literal["speak", "drop"]
"""What becomes of a model's thoughts in the text (``<think>`` and the like)."""

LEXICON_ENTRIES = 200
"""A lexicon of a context has at most so many; the server's own may have more."""


class Span(msgspec.Struct, frozen=True, array_like=True):
    """``text[begin:end]`` of a segment stands for ``source[source_begin:source_end]`` of it.

    Where both are of one length they agree character by character.
    """

    begin: int
    end: int
    source_begin: int
    source_end: int


class Pronunciation(msgspec.Struct, frozen=True, array_like=True):
    """``text[begin:end]`` of a segment is said so by models that take phones.

    ``phones``: syllables of pinyin with tone digits (``hao4``), or ARPAbet with stress digits, with
    blanks between. Other models speak the text as it stands.
    """

    begin: int
    end: int
    alphabet: Literal["pinyin", "arpabet"]
    phones: str


class LexiconEntry(msgspec.Struct, frozen=True, kw_only=True):
    """How ``text`` is to be said: in other words, in phones, or both."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    say: Annotated[str, msgspec.Meta(max_length=256)] = ""
    pinyin: Annotated[str, msgspec.Meta(max_length=256)] = ""
    arpabet: Annotated[str, msgspec.Meta(max_length=256)] = ""

    def __post_init__(self) -> None:
        """Raise ValueError where the phones are none."""
        fault = pinyin_fault(numbered(self.pinyin)) or arpabet_fault(self.arpabet)
        if fault:
            raise ValueError(fault)


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """Text given to the model at once; final, what comes later never changes it.

    ``text`` is what the model is to speak; ``source`` are the client's own characters
    ``[char_start, char_end)`` it came from, offsets counted in code points over the whole context.
    Where text is interleaved a segment comes in parts, each a ``Segment`` with the same index.
    """

    index: int
    text: str
    source: str
    char_start: int
    char_end: int
    ending: Ending
    language: str = ""
    """Primary tag guessed for this segment, or empty where nothing told."""
    spans: tuple[Span, ...] = ()
    """What each stretch of ``text`` was in ``source``, in order; empty where nobody kept track."""
    pronunciations: tuple[Pronunciation, ...] = ()
    more: bool = False
    """Another part of this segment follows; the last may be empty."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """A word of the client's text and when it is heard, from the context's start."""

    text: str
    char_start: int
    char_end: int
    start_samples: int
    end_samples: int
