"""A runner without a model: quiet sines, as long as the text would be, at no cost.

It makes the traffic of speech for tests and for measuring everything else. A context's frequency
follows from its voice and seed, so a listener can tell streams apart. Text may hold faults, for
tests of what surrounds a runner: ``[[raise]]`` raises in the step, ``[[sleep:0.5]]`` blocks it for
half a second, ``[[nan]]`` makes samples that are no numbers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import numpy as np

from streaming.config import EngineSettings
from streaming.messages import SAMPLE_RATE, Ready, Voice
from streaming.runners.base import SPEECH, Made, OneStage, Samples, StepResult, Work
from streaming.steps import Stage
from streaming.voices import catalog

CHAR_SAMPLES = 1_440
"""60 ms a character at speed 1."""

STEP_SAMPLES = 3_840
"""160 ms a step, as a first hop of a model would be."""

LEVEL = 0.1

_SLEEP = re.compile(r"\[\[sleep:([\d.]+)\]\]")
_BASE_HZ = {"tone-a": 200.0, "tone-b": 3_000.0}
_VOICES = tuple(
    Voice(id=name, name=name, languages=("*",), description="A quiet sine, for tests")
    for name in _BASE_HZ
)


def frequency_hz(voice: str, seed: int) -> float:
    """What a context with that voice and seed sounds like."""
    return _BASE_HZ[voice] + 50.0 * (seed % 50)


def length_samples(text: str, speed: float) -> int:
    """How much audio a segment's text makes, before pauses."""
    return round(len(text) * CHAR_SAMPLES / speed)


class ToneRunner(OneStage):
    """Sines for everyone."""

    stages = (Stage(SPEECH, max_batch=64),)

    def __init__(self, settings: EngineSettings) -> None:
        if settings.model is not None:
            raise ValueError(f"engine.model is {settings.model!r}; the tone runner has none")
        self._default = settings.default_voice or "tone-a"

    def load(self) -> None:
        """Nothing to load.

        Raises:
            UnknownVoice: the settings name a voice that is not there.
        """
        catalog.find(_VOICES, self._default)

    def ready(self, slots: int) -> Ready:
        """Two voices that speak anything."""
        return Ready(
            runner="tone",
            device="cpu",
            voices=_VOICES,
            default_voice=self._default,
            slots=slots,
            options=("speed", "seed"),
        )

    def has_voice(self, voice: str) -> bool:
        """Both are there from the beginning."""
        return voice in _BASE_HZ

    def load_voice(self, voice: str) -> None:
        """Raise: whatever is not there cannot be had."""
        raise KeyError(voice)

    def step(self, stage: str, batch: Sequence[Work]) -> list[StepResult]:
        """The next 160 ms of each."""
        del stage
        return [_step(work) for work in batch]


def _step(work: Work) -> Made:
    _commit_faults(work.segment.text)
    start: int = work.state or 0
    total = length_samples(work.segment.text, work.speed)
    end = min(start + STEP_SAMPLES, total)
    samples = _sine(frequency_hz(work.voice, work.seed), start, end)
    if "[[nan]]" in work.segment.text:
        samples[:] = np.nan
    return Made(samples, done=end == total, state=end, expected_samples=total)


def _commit_faults(text: str) -> None:
    if "[[raise]]" in text:
        raise RuntimeError("the text asked for a fault")
    if found := _SLEEP.search(text):
        time.sleep(float(found.group(1)))


def _sine(hz: float, start: int, end: int) -> Samples:
    phase = np.arange(start, end, dtype=np.float64) * (2 * np.pi * hz / SAMPLE_RATE)
    return (LEVEL * np.sin(phase)).astype(np.float32)
