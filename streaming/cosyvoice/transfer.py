"""Plain numbers on their way to the device."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def integers(numbers: Sequence[int] | Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """int64 on ``device``, without waiting for what the device does."""
    host = torch.tensor(numbers, dtype=torch.int64, pin_memory=device.type == "cuda")
    return host.to(device, non_blocking=True)
