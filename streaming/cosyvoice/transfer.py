"""Plain numbers on their way to the device."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def integers(numbers: Sequence[int] | Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """int64 on ``device``, without waiting for what the device does."""
    return moved(torch.tensor(numbers, dtype=torch.int64), device)


def moved(host: Tensor, device: torch.device) -> Tensor:
    """The same on ``device``, without waiting for what the device does."""
    if device.type == "cuda" and host.device.type == "cpu" and host.numel():
        host = host.pin_memory()
    return host.to(device, non_blocking=True)
