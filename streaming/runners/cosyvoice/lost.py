"""A device that is gone for good: after such an error each call fails until the process is another.

So nothing is tried again and nobody else is told that a text was at fault: the engine's process
ends, is started again, and its contexts get an error that is worth a retry. Knows: what CUDA
answers then. Does not know: processes.
"""

from __future__ import annotations

import torch


class DeviceLost(BaseException):
    """Nothing more can be computed in this process. No step may take it for its own failure."""


def lost(error: BaseException) -> bool:
    """Whether what raised that left a device behind on which nothing works any more."""
    if not isinstance(error, torch.AcceleratorError):
        return False
    try:
        torch.cuda.current_stream().synchronize()
    except torch.AcceleratorError:
        return True
    return False
