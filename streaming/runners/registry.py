"""Runners by name, each imported only when it is asked for.

Knows: names. Does not know: what a runner needs.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from streaming.config import EngineSettings
from streaming.runners.base import Runner

_LOADERS = {
    "cosyvoice": "streaming.runners.cosyvoice.runner:create",
    "embedded": "streaming.runners.builtin:create",
    "tone": "streaming.runners.tone:ToneRunner",
}


def create(settings: EngineSettings) -> Runner:
    """The runner that the settings name, not loaded yet."""
    module, name = _LOADERS[settings.kind].split(":")
    kind: Callable[[EngineSettings], Runner] = getattr(import_module(module), name)
    return kind(settings)
