"""The block mask of a whole pass: which frames a frame may look at.

Knows: positions. Does not know: pages; ``stream`` comes to the same by what it puts in tables.
"""

from __future__ import annotations

import torch
from torch import Tensor

from streaming.cosyvoice.sizes import BLOCK_FRAMES


def block_mask(
    frames: int,
    window_blocks: int | None = None,
    prompt_blocks: int = 0,
    block_frames: int = BLOCK_FRAMES,
) -> Tensor:
    """``(frames, frames)``, True where the row may look at the column.

    That is up to the end of its own block; with a window only at the prompt's blocks, the
    ``window_blocks`` before its own, and its own.
    """
    block = torch.arange(frames) // block_frames
    looks, at = block[:, None], block[None, :]
    mask = at <= looks
    if window_blocks is not None:
        mask &= (at >= looks - window_blocks) | (at < prompt_blocks)
    return mask
