"""What the ``embedded`` runner is on this machine: with the Mandarin preview or without.

Knows: whether the extra ``[mandarin]`` is installed. Does not know: how either voice speaks.
"""

from __future__ import annotations

from streaming.config import EngineSettings
from streaming.runners.base import Runner
from streaming.runners.embedded import EmbeddedRunner
from streaming.runners.mandarin import kokoro


def create(settings: EngineSettings) -> Runner:
    """English and Mandarin, or English alone where the extra is not installed."""
    if kokoro.missing():
        return EmbeddedRunner(settings)
    # Only now: its modules import what the extra brings.
    from streaming.runners.bundled import BundledRunner  # noqa: PLC0415

    return BundledRunner(settings)
