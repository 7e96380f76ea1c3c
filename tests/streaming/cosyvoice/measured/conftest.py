"""A tiny random checkpoint with voices, and the watched runner over it."""

from __future__ import annotations

import pytest
from rehearsing import unrehearsed

from benchmarks.models import voices
from benchmarks.models.watched import WatchedRunner
from streaming.config import CosyVoiceSettings, EngineSettings

VOICES = 4


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return voices.make(tmp_path_factory.mktemp("made"), "cosyvoice3", "tiny", voices=VOICES)


@pytest.fixture(scope="session")
def settings(made):
    return EngineSettings(
        runner="cosyvoice",
        model=str(made.checkpoint),
        device="cpu",
        slots=VOICES,
        voices_dir=str(made.voices_dir),
        cosyvoice=CosyVoiceSettings(first_hop_tokens=8, positions=512, flow_mib=256),
    )


@pytest.fixture(scope="package")
def runner(settings):
    runner = WatchedRunner(settings)
    with unrehearsed():
        runner.load()
    yield runner
    runner.unload()
