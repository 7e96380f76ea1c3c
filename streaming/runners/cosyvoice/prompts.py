"""What stands before a segment's text in the LLM: which way of using the voice suits it.

Knows: voices as features, instructions, languages. Does not know: networks.
"""

from __future__ import annotations

from dataclasses import dataclass

from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.prompt import texts
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation
from streaming.cosyvoice.tokenizer import TextTokenizer

SHORT = 0.5
"""A text with fewer tokens than this share of its voice's transcript is spoken badly as its
continuation (the official code warns of it): then the transcript stays away."""


@dataclass(frozen=True)
class Spoken:
    """What a voice says of itself to the LLM."""

    transcript: str = ""
    """What is said in its recording; empty where it has none."""
    text: tuple[int, ...] = ()
    """The transcript's ids where they were saved with a named speaker, instead."""
    speech: tuple[int, ...] = ()
    language: str = ""
    """Of the recording, a primary tag; empty where nobody knows."""


class Prompts:
    """Prompts of one model."""

    def __init__(self, tokenizer: TextTokenizer, generation: Generation) -> None:
        self._tokenizer = tokenizer
        self._generation = generation

    def of(
        self, voice: Spoken, instruct: str | None, language: str, text_tokens: int | None
    ) -> LlmPrompt:
        """For a text of so many tokens (None: nobody knows yet) in that language (empty: as well).

        An instruction takes the transcript's place. Without one the text goes on from the
        recording, unless it is in another language or much shorter than the transcript.
        """
        if instruct:
            return self._prompt(texts.instruct(instruct, self._generation))
        said = self._said(voice)
        foreign = bool(voice.language and language) and voice.language != language
        short = text_tokens is not None and text_tokens < SHORT * len(said)
        if not voice.speech or foreign or short:
            return self._prompt(texts.cross_lingual(self._generation))
        return LlmPrompt(self._before(voice), voice.speech)

    def _said(self, voice: Spoken) -> tuple[int, ...]:
        """The transcript alone; what stands before a saved one is no part of it."""
        if END_OF_PROMPT in voice.text:
            return voice.text[voice.text.index(END_OF_PROMPT) + 1 :]
        return voice.text or tuple(self._tokenizer.encode(voice.transcript, control=False))

    def _before(self, voice: Spoken) -> tuple[int, ...]:
        if voice.text:
            return self._prefixed(voice.text)
        return tuple(self._tokenizer.encode(texts.zero_shot(voice.transcript, self._generation)))

    def _prefixed(self, saved: tuple[int, ...]) -> tuple[int, ...]:
        """Some were saved without the words that version 3 needs before them."""
        if self._generation == "cosyvoice2" or END_OF_PROMPT in saved:
            return saved
        return self._prompt(texts.cross_lingual(self._generation)).text + saved

    def _prompt(self, before: str) -> LlmPrompt:
        return LlmPrompt(tuple(self._tokenizer.encode(before)))
