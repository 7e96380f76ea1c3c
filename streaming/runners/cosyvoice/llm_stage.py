"""The LLM's stage: each context's next piece, be it a prompt's or a token.

Knows: decodings and their slots. Does not know: what becomes of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from streaming.cosyvoice.llm.decoder import Decoder, Launched
from streaming.cosyvoice.llm.decoding import Decoding
from streaming.errors import SynthesisFailed
from streaming.runners.base import Later, Made, StepResult
from streaming.runners.cosyvoice.progress import Progress
from streaming.runners.cosyvoice.threads import Place
from streaming.runners.cosyvoice.together import out_of_memory, together
from streaming.runners.cosyvoice.utterance import Utterance

MOST_PREFIXES = 4
"""A voice keeps so many beginnings: its own, and those of instructions."""

_NOTHING = np.zeros(0, np.float32)


class LlmStage:
    """Text to speech tokens."""

    def __init__(self, decoder: Decoder, place: Place) -> None:
        self._decoder = decoder
        self._place = place

    def warm(self) -> int:
        """Make ready the steps of every shape that single tokens can take; how many."""
        return self._place.run(self._decoder.warm).result()

    def step(self, rows: Sequence[Utterance]) -> Later:
        """One piece of each; the next one may be launched before this has come to its end."""
        for row in rows:
            row.progress.begin_llm()
        made = self._place.run(lambda: together(rows, self._compute))

        def land(launched: Sequence[Launched | Exception]) -> list[StepResult]:
            return [self._land(*each) for each in zip(rows, launched, strict=True)]

        return Later(made, land)

    def release(self, utterance: Utterance) -> None:
        """Free its slot, after what was launched for it."""
        self._place.run(lambda: self._release(utterance))

    def _compute(self, rows: Sequence[Utterance]) -> list[Launched | Exception]:
        begun = [self._decoding(row) for row in rows]
        there = [each for each in begun if isinstance(each, Decoding)]
        for row in rows:
            self._keep_prefix(row)
        launched = iter(self._decoder.launch(there))
        return [next(launched) if isinstance(each, Decoding) else each for each in begun]

    def _decoding(self, row: Utterance) -> Decoding | Exception:
        """A slot with the first step; not to have one fails this row alone."""
        if row.decoding is None:
            try:
                row.decoding = self._decoder.begin(
                    row.prompt,
                    row.text,
                    seed=row.seed,
                    segment=row.segment,
                    prefix=row.voice.prefixes.get(row.prompt),
                )
            except Exception as error:  # of our tree or not, it is the row's
                if out_of_memory(error):
                    raise  # it is the newest's
                return error
        return row.decoding

    def _keep_prefix(self, row: Utterance) -> None:
        """What a voice begins with is kept as soon as it has once been computed."""
        prefixes = row.voice.prefixes
        if row.decoding is None or row.prompt in prefixes:
            return
        try:
            prefix = self._decoder.prefix_of(row.decoding)
        except torch.OutOfMemoryError:
            return  # it is for those who come after
        if prefix is not None:
            while len(prefixes) >= MOST_PREFIXES:
                del prefixes[next(iter(prefixes))]
            prefixes[row.prompt] = prefix

    def _release(self, utterance: Utterance) -> None:
        if utterance.decoding is not None:
            self._decoder.release(utterance.decoding)

    def _land(self, row: Utterance, launched: Launched | Exception) -> StepResult:
        row.progress.end_llm()
        made = launched if isinstance(launched, Exception) else launched.take()
        if isinstance(made, Exception):
            return made
        assert row.decoding is not None, "a step begins it"
        row.tokens += made
        _count(row.progress, row.decoding, len(made))
        if row.decoding.done:
            self.release(row)
            if not row.progress.made_tokens:
                return SynthesisFailed(f"the model found nothing to say (seed {row.seed})")
        return Made(_NOTHING, done=False, state=row, expected_samples=row.expected_samples)


def _count(progress: Progress, decoding: Decoding, made: int) -> None:
    progress.read_tokens(made, done=decoding.done)
    progress.prefill_tokens = 0
    if progress.llm_under_way:
        return  # a token's: its stage may be at the decoding right now
    progress.llm_waits = not decoding.done and not decoding.wants
    if decoding.wants and (length := len(decoding.piece.codes)) > 1:
        progress.prefill_tokens = length
