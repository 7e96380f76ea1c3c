"""The LLM's stage: each context's next piece, be it a prompt's or a token.

Knows: decodings and their slots. Does not know: what becomes of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from streaming.cosyvoice.llm.decoder import Decoder, Launched
from streaming.cosyvoice.llm.decoding import Decoding
from streaming.engine.notes import note
from streaming.errors import CosystreamError, SynthesisFailed
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

    def warm(self, rows: int) -> int:
        """Make ready the steps of every shape that tokens of so many contexts take; how many."""
        return self._place.run(lambda: self._decoder.warm(rows)).result()

    def step(self, rows: Sequence[Utterance]) -> Later:
        """One piece of each; the next step may be launched before this one has come to its end."""
        for row in rows:
            _take_text(row)
            row.progress.begin_llm()
        made = self._place.run(lambda: together(rows, self._compute))

        def land(launched: Sequence[Launched | Exception]) -> list[StepResult]:
            return [self._land(*each) for each in zip(rows, launched, strict=True)]

        return Later(made, land)

    def grow(self, row: Utterance) -> None:
        """More of the segment's text has come, or its text is complete.

        Where a step of it is under way, the text is given to the LLM when the step has ended.

        Raises:
            OutOfPositions: the text is more than fits.
            SynthesisFailed: the text is complete, and the model has nothing to say of it.
        """
        arriving, progress = row.arriving, row.progress
        if arriving is None or progress.llm_under_way or progress.llm_done:
            return
        if row.decoding is None:
            text = (*row.text, *arriving.ids)
            if arriving.complete and not text:
                raise SynthesisFailed("the model finds nothing to say in that text")
            enough = self._decoder.suffices(row.prompt, text, ended=arriving.complete)
            progress.llm_waits = not enough
            return
        if arriving.ids:
            self._decoder.append(row.decoding, arriving.ids)
            _take_text(row)
        if arriving.complete and not row.ended:
            row.ended = True
            self._decoder.end_text(row.decoding)
        self._count(row, row.decoding, 0)

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
        """The row's decoding; with the first step it gets a slot, or the error that it has none."""
        if row.decoding is None:
            try:
                row.decoding = self._decoder.begin(
                    row.prompt,
                    row.text,
                    seed=row.seed,
                    segment=row.segment,
                    streamed=row.arriving is not None,
                    prefix=row.voice.prefixes.get(row.beginning),
                )
                if row.ended:
                    self._decoder.end_text(row.decoding)
            except Exception as error:  # whatever it is, it fails this row alone
                if out_of_memory(error):
                    raise  # it fails the newest row (``together``)
                return error
        return row.decoding

    def _keep_prefix(self, row: Utterance) -> None:
        """What a voice begins with is kept as soon as it has once been computed."""
        prefixes = row.voice.prefixes
        if row.decoding is None or row.beginning in prefixes:
            return
        try:
            prefix = self._decoder.prefix_of(row.decoding)
        except torch.OutOfMemoryError:
            return  # only those who come after would have gained by it
        if prefix is not None:
            while len(prefixes) >= MOST_PREFIXES:
                del prefixes[next(iter(prefixes))]
            prefixes[row.beginning] = prefix

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
        try:
            self._count(row, row.decoding, len(made))
            self.grow(row)
        except CosystreamError as error:
            return error
        return Made(_NOTHING, done=False, state=row, expected_samples=row.expected_samples)

    def _count(self, row: Utterance, decoding: Decoding, made: int) -> None:
        """Tell the row's progress how many tokens were made, and what its LLM wants next."""
        _count(row.progress, decoding, made)
        if decoding.done:
            self._tell_cut_off(row, decoding)
            self.release(row)
            if not row.progress.made_tokens:
                raise SynthesisFailed(f"the model found nothing to say (seed {row.seed})")

    def _tell_cut_off(self, row: Utterance, decoding: Decoding) -> None:
        if decoding.script.cut_off:
            note(
                "speech_cut_off",
                level="warning",
                ctx=row.ctx,
                segment=row.segment,
                made_tokens=decoding.script.made,
                positions=self._decoder.limits.positions,
            )


def _take_text(row: Utterance) -> None:
    """What has come of it is given to its decoding, or will be when that begins."""
    if row.arriving is not None:
        row.text = (*row.text, *row.arriving.take())
        row.ended = row.ended or (row.decoding is None and row.arriving.complete)


def _count(progress: Progress, decoding: Decoding, made: int) -> None:
    progress.read_tokens(made, done=decoding.done)
    progress.prefill_tokens = 0
    if progress.llm_under_way:
        return  # a step that draws a token is launched: its thread may be changing the decoding
    progress.llm_waits = not decoding.done and not decoding.wants
    if decoding.wants and (length := len(decoding.piece.codes)) > 1:
        progress.prefill_tokens = length
