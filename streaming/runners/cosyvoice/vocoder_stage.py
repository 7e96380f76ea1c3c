"""The vocoder's stage: all frames that wait, at the context's speed, to samples.

Knows: stretches, vocoder states. Does not know: where frames come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from streaming.cosyvoice.sizes import MEL_BANDS
from streaming.cosyvoice.vocoder import MelStretch, Vocoder, VocoderState
from streaming.errors import SynthesisFailed
from streaming.runners.base import Later, Made, StepResult
from streaming.runners.cosyvoice.copies import Copies, Fetched
from streaming.runners.cosyvoice.threads import Place
from streaming.runners.cosyvoice.together import together
from streaming.runners.cosyvoice.utterance import Utterance


@dataclass(frozen=True, eq=False)
class _Given:
    """A row as it was when the step was launched."""

    ctx: int
    row: Utterance
    mel: tuple[Tensor, ...]
    last: bool


@dataclass(frozen=True, eq=False)
class _Made:
    fetched: Fetched
    at: int
    """Which of its rows."""
    sound: VocoderState
    stretch: MelStretch


class VocoderStage:
    """Mel frames to samples."""

    def __init__(
        self, vocoder: Vocoder, device: torch.device, place: Place, copies: Copies
    ) -> None:
        self._vocoder = vocoder
        self._device = device
        self._place = place
        self._copies = copies

    def warm(self, rows: int) -> int:
        """Make ready the steps of every shape that so many contexts usually meet; how many."""
        return self._place.run(lambda: self._vocoder.warm(rows)).result()

    def step(self, rows: Sequence[Utterance]) -> Later:
        """All that waits of each."""
        given = [self._take(row) for row in rows]
        made = self._place.run(lambda: together(given, self._compute))
        return Later(made, lambda made: [_land(*each) for each in zip(given, made, strict=True)])

    @staticmethod
    def _take(row: Utterance) -> _Given:
        hops, last = row.progress.begin_vocoder()
        mel = tuple(row.mel[:hops])
        del row.mel[:hops]
        return _Given(row.ctx, row, mel, last)

    def _compute(self, given: Sequence[_Given]) -> list[_Made | Exception]:
        stretched = [self._stretch(each) for each in given]
        rows = [
            (each.row.sound, mel, each.last)
            for each, (mel, _) in zip(given, stretched, strict=True)
        ]
        made = self._vocoder.step(rows)
        fetched = self._copies.fetch([samples for samples, _ in made], [each.ctx for each in given])
        return [
            _Made(fetched, at, sound, stretch)
            for at, ((_, sound), (_, stretch)) in enumerate(zip(made, stretched, strict=True))
        ]

    def _stretch(self, given: _Given) -> tuple[Tensor, MelStretch]:
        nothing = torch.zeros(0, MEL_BANDS, device=self._device)
        mel = torch.cat(given.mel) if given.mel else nothing
        stretch = given.row.stretch
        if stretch.speed == 1.0:
            return mel, stretch
        return stretch.push(mel, last=given.last)


def _land(given: _Given, made: _Made | Exception) -> StepResult:
    row = given.row
    if isinstance(made, Exception):
        _put_back(given)
        return made
    if not made.fetched.good(made.at):
        return SynthesisFailed(
            f"segment {row.segment} became noise that is no number (seed {row.seed})"
        )
    row.sound, row.stretch = made.sound, made.stretch
    return Made(made.fetched.row(made.at), given.last, row, row.expected_samples, row.usual_samples)


def _put_back(given: _Given) -> None:
    """The step did not come about: another context may make room for it to be tried again."""
    row = given.row
    row.mel[:0] = given.mel
    row.progress.undo_vocoder([len(frames) for frames in given.mel])
