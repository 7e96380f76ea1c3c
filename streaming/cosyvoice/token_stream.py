"""Ids of a text that is still arriving: each let go once nothing that follows can change it.

A text's tokens are not those of its beginning and some more: ``hel`` and ``lo`` are not the
tokens of ``hello``. What may still change is held back: the last piece that BPE works on, the
space before it, the beginning of a special token (``[laugh``), a letter whose accent may follow.
Knows: where a text's tokens are settled. Does not know: when text comes, what it is for.
"""

from __future__ import annotations

import unicodedata

from streaming.cosyvoice.tokenizer import TextTokenizer


class TokenStream:
    """One text's ids, in order: all that ``append`` and ``end`` return, joined, is ``encode``'s.

    Control tokens are spelled out, as ``encode`` does without ``control``: this is a user's text.
    """

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self._tokenizer = tokenizer
        self.held = ""
        """The text whose ids are not settled yet."""

    def append(self, delta: str) -> list[int]:
        """The ids that this much more text settles."""
        *whole, self.held = self._tokenizer.without_control(self.held + delta)
        ids = [number for part in whole for number in self._tokenizer.encode(part)]
        return ids + self._let_go()

    def end(self) -> list[int]:
        """The ids that were held back; nothing follows."""
        held, self.held = self.held, ""
        return self._tokenizer.encode(held)

    def _let_go(self) -> list[int]:
        """The ids of the pieces of the held text that are final, whatever follows."""
        encoding = self._tokenizer.encoding(self.held)
        pieces, places = encoding.word_ids, encoding.offsets
        limit, kept = self._final_before(), len(pieces)
        begun = pieces[-1] if pieces else None
        while kept and (
            pieces[kept - 1] == begun
            or places[kept - 1][1] > limit
            or places[kept - 1][1] > places[kept][0]  # one character that composing takes apart
            or _is_accent(self.held[places[kept][0]])
        ):
            kept -= 1
            begun = pieces[kept]
        if not kept:
            return []
        self.held = self.held[places[kept][0] :]
        return self._tokenizer.published(encoding.ids[:kept])

    def _final_before(self) -> int:
        """Where the characters begin that more text can join, compose or make special."""
        limit = last = len(self.held) - self._tokenizer.special_begun(self.held)
        while limit and _is_accent(self.held[limit - 1]):
            limit -= 1
        if limit and limit < last:
            limit -= 1  # the letter that carries those accents
        while limit and self.held[limit - 1].isspace():
            limit -= 1
        return limit


def _is_accent(character: str) -> bool:
    """Whether it may become one character with those before it."""
    return unicodedata.category(character).startswith("M")
