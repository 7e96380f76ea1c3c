"""Voices that can really speak, under the names that CosyVoice's have."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from streaming.config import EngineSettings
from streaming.runners.builtin import create

VOICES = {"starter-english": "heart", "starter-mandarin": "mandarin"}


class Speaker:
    """The bundled runner, asked for other voices; ``before`` is said before each text."""

    def __init__(self, before=""):
        self._runner = create(EngineSettings(runner="embedded"))
        self._before = before

    def __getattr__(self, name):
        return getattr(self._runner, name)

    def has_voice(self, voice):
        return self._runner.has_voice(VOICES[voice])

    def load_voice(self, voice):
        self._runner.load_voice(VOICES[voice])

    def begin(self, work):
        return self._runner.begin(self._own(work))

    def wants(self, work, costs):
        return self._runner.wants(self._own(work), costs)

    def step(self, stage, batch):
        return self._runner.step(stage, [self._own(work) for work in batch])

    def _own(self, work):
        text = f"{self._before} {work.segment.text}".strip()
        segment = msgspec.structs.replace(work.segment, text=text)
        return replace(work, voice=VOICES[work.voice], segment=segment)
