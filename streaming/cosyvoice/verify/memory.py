"""The most memory that this process had, here and on the device.

Knows: where the system and torch count it. Does not know: what it was for.
"""

from __future__ import annotations

import sys

import torch


def device_bytes() -> int | None:
    """On the GPU; None where none was used."""
    if not torch.cuda.is_available():
        return None
    return torch.cuda.max_memory_reserved() or None


def process_bytes() -> int | None:
    """In the machine's own memory; None where the system does not tell."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - Windows has none

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10
