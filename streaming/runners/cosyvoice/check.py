"""What can be said of a checkpoint, a device and a profile without loading anything.

Knows: the folder's layout, what torch finds. Does not know: weights.
"""

from __future__ import annotations

from pathlib import Path

from streaming.config import EngineSettings
from streaming.cosyvoice import checkpoint
from streaming.cosyvoice.checkpoint import CheckpointError
from streaming.runners.cosyvoice.device import choose
from streaming.runners.cosyvoice.profile import priors


def fault(settings: EngineSettings) -> str | None:
    """Why these settings cannot be used; None where nothing speaks against them."""
    assert settings.model is not None, "the settings' rules ask for one"
    try:
        checkpoint.look(Path(settings.model))
        choose(settings)
        priors(settings.cosyvoice.profile, settings.cosyvoice.flow_window_s)
    except (CheckpointError, ValueError) as error:
        return str(error)
    return None
