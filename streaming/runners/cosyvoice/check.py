"""What can be said of a checkpoint, a device, a profile and a voice without loading a network.

Knows: the folder's layout, what torch finds. Does not know: weights.
"""

from __future__ import annotations

from pathlib import Path

from streaming.config import EngineSettings
from streaming.cosyvoice import checkpoint
from streaming.cosyvoice.checkpoint import CheckpointError, Layout, speakers
from streaming.errors import UnknownVoice
from streaming.runners.cosyvoice.device import choose
from streaming.runners.cosyvoice.profile import priors
from streaming.runners.cosyvoice.voice_reading import own_voices
from streaming.voices import catalog


def fault(settings: EngineSettings) -> str | None:
    """Why these settings cannot be used; None where nothing speaks against them."""
    assert settings.model is not None, "the settings' rules ask for one"
    try:
        files, _ = checkpoint.look(Path(settings.model))
        choose(settings)
        priors(settings.cosyvoice.profile, settings.cosyvoice.flow_window_s)
        return _of_voice(settings, files)
    except (CheckpointError, ValueError) as error:
        return str(error)


def _of_voice(settings: EngineSettings, files: Layout) -> str | None:
    """Made voices are nobody's before a key asks for them, so none of them can be the default."""
    if settings.default_voice is None:
        return None
    there = tuple(own_voices(speakers.read(files.speakers), ()))
    try:
        catalog.find(there, settings.default_voice)
    except UnknownVoice as error:
        return f"engine.default_voice: {error}"
    return None
