"""Whether the engine's settings can be used at all, found out before anything is served.

A child process looks, so that the server's own never imports a model. Knows: how it is asked. Does
not know: what a runner checks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

from streaming.config import EngineSettings
from streaming.errors import UnknownVoice

UNUSABLE = 3
"""The child's status where the settings cannot be used; it has said why on standard output."""

LONGEST_S = 120.0
"""Reading torch from a slow disk takes a while; then the engine finds out for itself."""


def preflight(settings: EngineSettings) -> str | None:
    """Why the engine cannot run as the settings have it; None where nothing speaks against it."""
    if fault := _of_trace(settings.trace):
        return fault
    if settings.kind != "cosyvoice" and settings.default_voice is None:
        return None
    given = msgspec.json.encode(settings).decode()
    command = [sys.executable, "-m", "streaming.engine", "check", given]
    try:
        child = subprocess.run(  # noqa: S603 - our own command; the settings are one argument
            command, capture_output=True, text=True, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return child.stdout.strip() if child.returncode == UNUSABLE else None


def _of_trace(path: str | None) -> str | None:
    if path is None or Path(path).absolute().parent.is_dir():
        return None
    return f"engine.trace is {path!r}, but there is no folder {Path(path).absolute().parent}"


def run_check(settings: EngineSettings) -> int:
    """The child's part: its status."""
    found = _of_model(settings) if settings.kind == "cosyvoice" else _of_voice(settings)
    if found is None:
        return 0
    sys.stdout.write(found)
    return UNUSABLE


def _of_model(settings: EngineSettings) -> str | None:
    try:
        from streaming.runners.cosyvoice.check import fault  # noqa: PLC0415 - needs torch
    except ImportError as error:
        return (
            f"CosyVoice needs what is not installed here ({error}); `make setup-cosyvoice` adds it"
        )
    return fault(settings)


def _of_voice(settings: EngineSettings) -> str | None:
    from streaming.runners.registry import create  # noqa: PLC0415 - not in the server's process
    from streaming.voices import catalog  # noqa: PLC0415 - the same

    assert settings.default_voice is not None, "else nobody asks"
    try:
        catalog.find(create(settings).ready(settings.slots).voices, settings.default_voice)
    except UnknownVoice as error:
        return f"engine.default_voice: {error}"
    return None
