"""Whether the settings of a model can be used at all, found out before anything is served.

A child process looks, so that the server's own never imports a model. Knows: how it is asked. Does
not know: what a runner checks.
"""

from __future__ import annotations

import subprocess
import sys

import msgspec

from streaming.config import EngineSettings

UNUSABLE = 3
"""The child's status where the settings cannot be used; it has said why on standard output."""

LONGEST_S = 120.0
"""Reading torch from a slow disk takes a while; then the engine finds out for itself."""


def preflight(settings: EngineSettings) -> str | None:
    """Why a model cannot be run as the settings have it; None where nothing speaks against it."""
    if settings.kind != "cosyvoice":
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


def run_check(settings: EngineSettings) -> int:
    """The child's part: its status."""
    try:
        from streaming.runners.cosyvoice.check import fault  # noqa: PLC0415 - needs torch
    except ImportError as error:
        sys.stdout.write(
            f"CosyVoice needs what is not installed here ({error}); `make setup-cosyvoice` adds it"
        )
        return UNUSABLE
    found = fault(settings)
    if found is None:
        return 0
    sys.stdout.write(found)
    return UNUSABLE
