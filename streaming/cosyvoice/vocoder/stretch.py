"""Speaking faster or slower: mel frames in, fewer or more of them out, the pitch as it was.

The rule is the official code's for whole utterances, linear interpolation between frames, but for
a stream that is still being made: a frame comes out once both its neighbours are there. It knows no
length, so frames lie exactly ``speed`` apart; the official code, which does, spreads them evenly up
to the end, where they come to stand less than ``speed`` frames further. Knows: positions, exact for
any cut. Does not know: who makes or takes the frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

SLOWEST, FASTEST = 0.5, 2.0


@dataclass(frozen=True, eq=False)
class MelStretch:
    """Where one stream stands between its frames at speed 1 and those at ``speed``: a value."""

    speed: float
    seen_frames: int = 0
    made_frames: int = 0
    held: Tensor | None = None
    """(frames, 80): of those seen, the last ones, which the next frame lies between."""

    def __post_init__(self) -> None:
        if not SLOWEST <= self.speed <= FASTEST:
            raise ValueError(f"speed must be {SLOWEST} to {FASTEST}, not {self.speed}")

    @property
    def bytes(self) -> int:
        """Of device memory."""
        return 0 if self.held is None else self.held.numel() * self.held.element_size()

    def push(self, mel: Tensor, *, last: bool = False) -> tuple[Tensor, MelStretch]:
        """The frames (any, 80) that ``mel`` (frames, 80) completes, and what stands after them.

        With ``last`` all that remain come: ``frames / speed`` in all, rounded down, but one at
        least of an utterance that has any.
        """
        held = mel if self.held is None else torch.cat([self.held, mel])
        seen = self.seen_frames + len(mel)
        end = self._ready(seen, last=last)
        base = seen - len(held)
        place = torch.arange(self.made_frames, end, dtype=torch.float64, device=mel.device)
        place = ((place + 0.5) * self.speed - 0.5).clamp(min=0.0)
        left = place.floor()
        weight = (place - left).to(mel.dtype)[:, None]
        index = left.long() - base
        before, after = (held[step.clamp(0, len(held) - 1)] for step in (index, index + 1))
        kept = held[max(0, self._left(end) - base) :].clone()
        return torch.lerp(before, after, weight), MelStretch(self.speed, seen, end, kept)

    def _left(self, index: int) -> int:
        """The frame before the place of frame ``index`` of those that come out."""
        return max(0, int((index + 0.5) * self.speed - 0.5))

    def _ready(self, seen: int, *, last: bool) -> int:
        """How many frames can be out: never more than the whole will have, should it end here."""
        whole = int(seen / self.speed)
        if last:
            return max(whole, min(1, seen))
        between = int((seen - 0.5) / self.speed + 0.5) if seen else 0
        return max(self.made_frames, min(whole, between))
