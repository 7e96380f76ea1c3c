"""The Mandarin voice as a runner of its own: pieces of a segment, each made in its own thread.

A piece takes hundreds of milliseconds where the English voices take tens, so the engine's loop does
not wait for it: the step is answered later, and others speak meanwhile. Knows: the script and the
model, and their failure modes. Does not know: contexts, the engine's loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from streaming.config import EngineSettings
from streaming.errors import CosystreamError, SynthesisFailed
from streaming.messages import SAMPLE_RATE, Ready, Segment, Voice
from streaming.runners.base import Later, Made, Samples, StepResult, Work
from streaming.runners.english import Foreign
from streaming.runners.mandarin.kokoro import Kokoro
from streaming.runners.mandarin.pieces import LONGEST_BEATS, Piece, cut, join
from streaming.runners.mandarin.script import Script
from streaming.voices import catalog

MANDARIN = Voice(
    id="mandarin",
    name="Mandarin",
    languages=("zh", "en"),
    description="Mandarin, with English in it; a preview in a Japanese speaker's timbre",
    preview=True,
)

CHARACTER_UNITS = 100.0
"""What a Chinese character costs next to one of an English segment, about."""

SHORTEST_S = 0.05
LONGEST_S = 3.0
LONGEST_PHONEME_S = 0.4
LOUDEST = 4.0

_WARM_UP = "你好，hello，很高兴见到你。"  # noqa: RUF001 - Chinese text is meant


@dataclass(frozen=True)
class _Rest:
    """Pieces of a segment still to be spoken, and how many were."""

    pieces: tuple[Piece, ...]
    spoken: int


class MandarinRunner:
    """One voice; one piece at a time, in a thread of its own."""

    max_batch = 1

    def __init__(self, settings: EngineSettings, voices: Sequence[Voice] = (MANDARIN,)) -> None:
        """``voices``: all that the server has, to name those that can what this one cannot."""
        self._settings = settings
        self._voices = voices
        self._model: Kokoro | None = None
        self._script: Script | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mandarin")

    def load(self) -> None:
        """The model and the dictionaries, warm. Raises what went wrong."""
        self.load_voice(MANDARIN.id)

    def ready(self, slots: int) -> Ready:
        """The one voice."""
        return Ready(
            runner="mandarin",
            device="cpu",
            voices=(MANDARIN,),
            default_voice=MANDARIN.id,
            slots=slots,
            options=("speed",),
        )

    def step_units(self, segment: Segment) -> float:
        """A piece of it at the most, its characters being dear."""
        return min(len(segment.text), LONGEST_BEATS) * CHARACTER_UNITS

    def has_voice(self, voice: str) -> bool:
        """Whether the model is in memory."""
        return voice == MANDARIN.id and self._model is not None

    def load_voice(self, voice: str) -> None:
        """Read the model and the dictionaries, then speak a little.

        Raises:
            KeyError: it is not the Mandarin voice.
            ValueError: a file is not the one that was vetted.
        """
        if voice != MANDARIN.id:
            raise KeyError(voice)
        with ThreadPoolExecutor(max_workers=1) as pool:
            script = pool.submit(Script)
            model = Kokoro(self._settings.threads)
            self._script = script.result()
        for piece in cut(self._script.words(_WARM_UP), first=True):
            model.speak(piece.phonemes, 1.0)
        self._model = model

    def step(self, batch: Sequence[Work]) -> list[StepResult]:
        """The next piece of each, later."""
        return [Later(self._thread.submit(self._step, work)) for work in batch]

    def _step(self, work: Work) -> Made | CosystreamError:
        try:
            rest = work.state or _Rest(self._pieces(work), 0)
            samples = self._speak(work, rest)
        except CosystreamError as error:
            return error
        pieces = rest.pieces[1:]
        joined = join(samples, rest.pieces[0].mark, first=rest.spoken == 0, last=not pieces)
        return Made(joined, done=not pieces, state=_Rest(pieces, rest.spoken + 1))

    def _pieces(self, work: Work) -> tuple[Piece, ...]:
        assert self._script is not None, "steps come after the voice is loaded"
        segment = work.segment
        try:
            words = self._script.words(segment.text, segment.language)
        except Foreign as foreign:
            what = f"{foreign.script} ({foreign.letters[:20]})"
            raise catalog.cannot_speak(self._voices, MANDARIN, what, foreign.language) from None
        if not words:
            raise SynthesisFailed(f"the voice finds nothing to say in {segment.text[:80]!r}")
        return cut(words, first=segment.index == 0)

    def _speak(self, work: Work, rest: _Rest) -> Samples:
        assert self._model is not None, "steps come after the voice is loaded"
        piece = rest.pieces[0]
        samples = self._model.speak(piece.phonemes, work.speed)
        length_s = len(samples) / SAMPLE_RATE
        longest_s = LONGEST_S + len(piece.phonemes) * LONGEST_PHONEME_S / work.speed
        if not SHORTEST_S <= length_s <= longest_s:
            raise SynthesisFailed(f"the voice made {length_s:.2f} s of {work.segment.text[:80]!r}")
        if not np.abs(samples).max() <= LOUDEST:  # so also where it is not a number
            raise SynthesisFailed(f"the voice made noise of {work.segment.text[:80]!r}")
        return samples
