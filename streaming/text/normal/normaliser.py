"""One context's segments, each made into words to speak.

Knows: which rules a segment gets, and that no fault of theirs may lose text. Does not know: the
rules themselves; when a segment is let go.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from streaming.languages import primary
from streaming.segment import Segment
from streaming.text.normal import chinese, english
from streaming.text.normal.aligned import Aligned
from streaming.text.normal.faces import strip_faces
from streaming.text.normal.latex import strip_latex
from streaming.text.normal.lexicon import NO_LEXICON, Kept, Lexicon
from streaming.text.normal.marks import Marks
from streaming.text.normal.markup import strip_control, strip_markdown
from streaming.text.normal.simplified import simplify
from streaming.text.normal.tidy import even_widths, silent_lead, tidy
from streaming.text.normal.wide import english_marks
from streaming.text.speakable import foreign_letters

_log = logging.getLogger(__name__)

Rules = Callable[[Aligned], None]

_UNKNOWN = "und"
_ANY = "*"
"""The tag of a voice that is said to speak anything."""
_CHINESE = frozenset({"zh", "cmn", "yue", "wuu"})
LATIN_STRETCH_WORDS = 4
"""So many Latin words in a row within Chinese text are read by the rules of English."""

_ROUND: dict[int, int | str] = {ord("["): "(", ord("]"): ")"}
_LATIN_STRETCH = re.compile(
    r"[A-Za-z][^\u2e80-\u30ff\u3400-\u9fff\uff00-\uffef]*(?:[A-Za-z0-9%.!?)'\"]|(?<=\d))"
)
_WIDE_MARK = re.compile("[，。、！？；：]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'-]+|\b[IaA]\b")


class Removed(NamedTuple):
    """``source[begin:end]`` is not for speaking; ``text`` stands there instead."""

    begin: int
    end: int
    text: str


class Normaliser:
    """The text of one context's segments, as its voice is to speak it."""

    def __init__(
        self,
        voice_languages: Sequence[str] = (),
        lexicon: Lexicon = NO_LEXICON,
        language: str = "auto",
        marks: Sequence[str] = (),
    ) -> None:
        """``marks``: control marks that the voice takes as they are written."""
        self._marks = Marks(marks)
        known = [tag for tag in voice_languages if tag != _ANY]
        self._speaks = frozenset(primary(tag) for tag in known)
        self._speaks_chinese = bool(self._speaks & _CHINESE) or not self._speaks
        self._first = primary(known[0]) if known else ""
        self._lexicon = lexicon
        self._chinese_before = primary(language) in _CHINESE

    def speak(self, segment: Segment, removed: Sequence[Removed] = ()) -> Segment:
        """The segment with ``text`` made of words, and ``spans`` that tell where they came from.

        Where a rule fails, the segment stays as it is, and the log says so.
        """
        try:
            return self._speak(segment, removed)
        except Exception as error:  # noqa: BLE001  whatever a rule does, its text is spoken
            _log.error("segment %d is spoken as it was written", segment.index, exc_info=error)
            return segment

    def _speak(self, segment: Segment, removed: Sequence[Removed]) -> Segment:
        aligned = Aligned(segment.source)
        aligned.replace(removed)
        aligned.drop(0, silent_lead(aligned.text))
        kept = Kept(aligned)
        strip_latex(aligned)
        self._marks.hide(aligned, kept)
        strip_control(aligned)
        strip_markdown(aligned)
        self._lexicon.hide(aligned, kept, han=self._speaks_chinese)
        strip_faces(aligned)
        even_widths(aligned)
        primary = self._language(segment.language, aligned.text)
        if primary in _CHINESE:
            simplify(aligned)
        rules = self._rules(primary)
        if rules is None:
            aligned.translate(_ROUND)  # no voice may take [i] for a mark of its own
        else:
            rules(aligned)
        tidy(aligned)
        pronunciations = kept.show(aligned)
        return msgspec.structs.replace(
            segment, text=aligned.text, spans=aligned.spans(), pronunciations=pronunciations
        )

    def _language(self, guessed: str, text: str) -> str:
        """Within Chinese, a few Latin words or a number alone are Chinese too."""
        tag = primary(guessed)
        if tag in _CHINESE:
            self._chinese_before = True
        elif tag == "en" and self._chinese_before:
            few = len(_LATIN_WORD.findall(text)) < LATIN_STRETCH_WORDS
            return "zh" if few or _WIDE_MARK.search(text) else "en"
        if not tag and foreign_letters(text):
            return _UNKNOWN
        return tag or self._first or "en"

    def _rules(self, tag: str) -> Rules | None:
        """By the language, as far as the voice speaks it; None leaves numbers alone."""
        english_too = "en" in self._speaks or not self._speaks
        chinese_too = self._speaks_chinese
        if tag in _CHINESE:
            return _speak_mixed if chinese_too else _speak_english if english_too else None
        if tag == "en":
            return _speak_english if english_too else _speak_mixed if chinese_too else None
        return None


def _speak_english(aligned: Aligned) -> None:
    english_marks(aligned)
    english.speak(aligned)


def _speak_mixed(aligned: Aligned) -> None:
    """Chinese, but for long stretches of English in it."""
    parts: list[Aligned] = []
    done = 0
    for found in _LATIN_STRETCH.finditer(aligned.text):
        if sum(map(bool, map(_LATIN_WORD.search, found.group().split()))) < LATIN_STRETCH_WORDS:
            continue
        parts += [aligned.part(done, found.start()), aligned.part(found.start(), found.end())]
        done = found.end()
    parts.append(aligned.part(done, len(aligned.text)))
    for index, part in enumerate(parts):
        (english if index % 2 else chinese).speak(part)
    aligned.join(parts)
