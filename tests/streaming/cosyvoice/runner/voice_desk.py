"""Voices over a flow of their own, whose Euler steps take no time."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import torch

from streaming.config import CosyVoiceSettings
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.llm.cache import Kept
from streaming.cosyvoice.llm.decoder import Prefix
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.prompt.features import PromptFeatures
from streaming.cosyvoice.sizes import EULER_STEPS, SPEECH_TOKENS
from streaming.runners.base import Made
from streaming.runners.cosyvoice.flow_stage import FlowStage
from streaming.runners.cosyvoice.parking import Parking
from streaming.runners.cosyvoice.threads import Inline
from streaming.runners.cosyvoice.voices import Voices
from streaming.voices.files import VoiceFiles, VoiceRecord

PROMPT = LlmPrompt((1, 2, 3))
TOKENS = 80
"""Of each recording: two pages, and a rest."""


PAGES = 2
ON_DEVICE, ON_HOST, IN_MIND = 3, 4, 9
"""So many idle voices fit on each level (the last: their features, those of the others too)."""


PREFIX_BYTES = 2 * 4 * 64


class Row(SimpleNamespace):
    """Known by itself, as a segment is."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Desk:
    """Voices over a flow of their own, whose Euler steps take no time."""

    def __init__(self, models, root, voices=12):
        self.files = VoiceFiles(root)
        self.model = models.listener.model
        self.page_bytes = models.flow.pool.page_bytes
        self.flow = Flow(
            models.flow._network,
            budget_bytes=40 * self.page_bytes,
            host_bytes=(ON_HOST * PAGES + 1) * self.page_bytes,
        )
        self.flow.euler = at_once
        self.ids = [self.store(number) for number in range(voices)]
        share = replace(
            models.share, prefix_bytes=ON_DEVICE * PREFIX_BYTES, prefix_host_bytes=2 * PREFIX_BYTES
        )
        self.voices = Voices(self.files, models.listener, models.generation, {}, self.flow, share)
        self.voices.load(self.ids[0])
        self.feature_bytes = self.voices.features_bytes
        self.voices._features_bytes = IN_MIND * self.feature_bytes
        self.voices.pages._budget_bytes = ON_DEVICE * (PAGES + 0.5) * self.page_bytes
        self.parking = Parking(self.flow, self.voices.pages.free_host)
        self.stage = FlowStage(
            self.flow, Inline(), CosyVoiceSettings(), self.voices.pages.free, self.parking
        )

    def store(self, number, *, recording=None, transcript="Hello."):
        audio = f"{recording if recording is not None else number:064x}"
        dice = np.random.default_rng(number)
        features = PromptFeatures(
            tuple(int(each) for each in dice.integers(0, SPEECH_TOKENS, TOKENS)),
            dice.standard_normal((2 * TOKENS, 80)).astype(np.float32),
            dice.standard_normal(192).astype(np.float32),
            self.model,
        )
        self.files.write_features(audio, self.model, features.to_bytes())
        letters = "".join("abcdefghij"[int(digit)] for digit in f"{number:020d}")
        record = VoiceRecord(
            id=f"v-{letters}", name="", owner="me", transcript=transcript, language="en",
            consent="a test", created="", audio=audio, duration_ms=3000,
        )  # fmt: skip
        self.files.write_record(record)
        return record.id

    def begin(self, voice):
        """What the runner does of a voice for a segment."""
        part = self.voices.take(voice)
        row = Row(ctx=1, voice=part, flow=None, hop=None, voice_steps=0, expected_samples=None)
        while part.flow.voice is None:
            step = self.stage.step([row])
            (made,) = step.land(step.made.result())
            assert isinstance(made, Made), made
        if part.prefixes.get(PROMPT) is None:
            keys = torch.zeros(1, 64, 1, 1)
            part.prefixes[PROMPT] = Prefix((1, 2, 3), Kept(keys, keys.clone()))
        return part

    def end(self, part):
        self.voices.give_back(part)
        self.voices.pages.trim()
        self.voices.prefixes.trim()

    def speak(self, *voices):
        for voice in voices:
            self.end(self.begin(voice))

    def where(self, voice):
        part = self.voices._by_id.get(voice)
        if part is None:
            return "disk"
        if part.flow.voice is not None:
            return "device"
        return "features" if part.flow.away is None else "host"

    def of(self, voice):
        return self.voices._by_id[voice]

    @property
    def used_pages(self):
        return self.flow.pool.pages - self.flow.pool.free


def at_once(hops):
    for hop in hops:
        hop.run.step = EULER_STEPS - 1
        hop.run.stepped()
