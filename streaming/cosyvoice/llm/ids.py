"""Ids: of speech, of signs, of text, and the one space that puts them side by side.

A *code* is an input of the model: below ``speech_rows`` a row of the speech embedding, then text,
then (version 2) the two rows of ``llm_embedding``. Source of the numbers: the official classes
``Qwen2LM`` and ``CosyVoice3LM``. Does not know: characters, tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streaming.cosyvoice.llm.errors import BadIds
from streaming.cosyvoice.sizes import SPEECH_TOKENS, LlmSizes

STOP = SPEECH_TOKENS
"""What the sampler answers for the end of speech, in either generation."""

FILL = SPEECH_TOKENS + 1
"""What it answers when the model asks for more text."""

BROKEN = -1
"""What it answers for a row whose logits are not finite."""


@dataclass(frozen=True)
class Ids:
    """Where one generation keeps its signs."""

    speech_rows: int
    """Rows of the speech embedding and of the head."""
    stop: int
    fill: int
    text_rows: int
    sos: int
    """Code of the start, and of the sign between text and speech:"""
    task: int

    def text(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Codes of text ids; ``BadIds`` names one that the vocabulary does not have."""
        given = tuple(ids)
        for one in given:
            if not 0 <= one < self.text_rows:
                raise BadIds(f"text id {one} is not in the vocabulary of {self.text_rows}")
        return tuple(self.speech_rows + one for one in given)

    @staticmethod
    def speech(tokens: Iterable[int]) -> tuple[int, ...]:
        """Codes of speech tokens (they are their own); ``BadIds`` names one that is no sound."""
        given = tuple(tokens)
        for one in given:
            if not 0 <= one < SPEECH_TOKENS:
                raise BadIds(f"speech token {one} is not in the codebook of {SPEECH_TOKENS}")
        return given


def ids_of(sizes: LlmSizes) -> Ids:
    """The generation's ids."""
    if sizes.generation == "cosyvoice2":
        rows = SPEECH_TOKENS + 3
        signs = rows + sizes.vocab
        return Ids(rows, SPEECH_TOKENS, SPEECH_TOKENS + 2, sizes.vocab, signs, signs + 1)
    first = SPEECH_TOKENS
    return Ids(first + 200, first + 1, first + 3, sizes.vocab, first, first + 2)
