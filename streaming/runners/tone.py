"""A runner without a model: quiet sines, as long as the text would be, at no cost.

It makes the traffic of speech for tests and for measuring everything else. A context's frequency
follows from its voice and seed, so a listener can tell streams apart; that of a voice made of a
recording follows from the recording. A client's text may hold faults, for tests of what surrounds
a runner: ``[[raise]]`` raises in the step, ``[[sleep:0.5]]`` blocks it for half a second,
``[[nan]]`` makes samples that are no numbers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from streaming.config import EngineSettings
from streaming.errors import UnknownVoice
from streaming.messages import Ready, Voice
from streaming.runners.base import SPEECH, Made, OneStage, Samples, StepResult, Work
from streaming.samples import SAMPLE_RATE
from streaming.steps import Stage
from streaming.voices import catalog
from streaming.voices.files import VoiceFiles

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
_CLONES_FROM_HZ = 5_500.0
"""Voices made of recordings are above what the others reach with any seed."""


@dataclass(frozen=True)
class _Place:
    """How far a segment is, and at which frequency."""

    hz: float
    samples: int = 0


def frequency_hz(voice: str, seed: int) -> float:
    """What a context with that voice and seed sounds like."""
    return _with_seed(_BASE_HZ[voice], seed)


def clone_hz(recording: str, seed: int = 0) -> float:
    """What a voice made of the recording with that hash sounds like."""
    return _with_seed(_CLONES_FROM_HZ + 50.0 * (int(recording[:8], 16) % 40), seed)


def _with_seed(base_hz: float, seed: int) -> float:
    return base_hz + 50.0 * (seed % 50)


def length_samples(text: str, speed: float) -> int:
    """How much audio a segment's text makes, before pauses."""
    return round(len(text) * CHAR_SAMPLES / speed)


class ToneRunner(OneStage):
    """Sines for everyone."""

    stages = (Stage(SPEECH, max_batch=64),)
    units_per_s = SAMPLE_RATE / STEP_SAMPLES

    def __init__(self, settings: EngineSettings) -> None:
        if settings.model is not None:
            raise ValueError(f"engine.model is {settings.model!r}; the tone runner has none")
        self._default = settings.default_voice or "tone-a"
        self._files = VoiceFiles(Path(settings.voices_dir))
        self._base_hz = dict(_BASE_HZ)

    def load(self) -> None:
        """Nothing to load.

        Raises:
            UnknownVoice: the settings name a voice that is not there.
        """
        catalog.find(_VOICES, self._default)

    def ready(self, slots: int) -> Ready:
        """Two voices that speak anything, and as many more as are made."""
        return Ready(
            runner="tone",
            device="cpu",
            voices=_VOICES,
            default_voice=self._default,
            slots=slots,
            options=("speed", "seed"),
            cloning=find_spec("soundfile") is not None,  # recordings are read with it
            clone_languages=(catalog.ANY_LANGUAGE,),
        )

    def has_voice(self, voice: str) -> bool:
        """Its own are there from the beginning, others once they were asked for."""
        return voice in self._base_hz

    def load_voice(self, voice: str) -> None:
        """Look up what the voice was made of.

        Raises:
            UnknownVoice: nothing is stored under that id.
        """
        try:
            recording = self._files.record(voice).audio
        except FileNotFoundError as error:
            raise UnknownVoice(f"no voice {voice!r} is stored") from error
        self._base_hz[voice] = clone_hz(recording)

    def forget_voice(self, voice: str) -> None:
        """Its own are never removed."""
        if voice not in _BASE_HZ:
            self._base_hz.pop(voice, None)

    def begin(self, work: Work) -> _Place:
        """At the first sample."""
        return _Place(_with_seed(self._base_hz[work.voice], work.seed))

    def step(self, stage: str, batch: Sequence[Work]) -> list[StepResult]:
        """The next 160 ms of each."""
        del stage
        return [_step(work, work.state or self.begin(work)) for work in batch]


def _step(work: Work, place: _Place) -> Made:
    _commit_faults(work.segment.source)
    total = length_samples(work.segment.text, work.speed)
    end = min(place.samples + STEP_SAMPLES, total)
    samples = _sine(place.hz, place.samples, end)
    if "[[nan]]" in work.segment.source:
        samples[:] = np.nan
    return Made(samples, done=end == total, state=_Place(place.hz, end), expected_samples=total)


def _commit_faults(source: str) -> None:
    if "[[raise]]" in source:
        raise RuntimeError("the text asked for a fault")
    if found := _SLEEP.search(source):
        time.sleep(float(found.group(1)))


def _sine(hz: float, start: int, end: int) -> Samples:
    phase = np.arange(start, end, dtype=np.float64) * (2 * np.pi * hz / SAMPLE_RATE)
    return (LEVEL * np.sin(phase)).astype(np.float32)
