"""A stream's memory in the vocoder: a value, never changed, replaced at every step.

Knows: what it holds and how much that is. Does not know: what the rows mean: each generation lays
out its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class VocoderState:
    """Where one stream stands."""

    key: int
    """Of its noise."""
    mel: Tensor
    """(frames, 80): the last ones given, kept because later ones are still to be seen with them."""
    carried: Tensor
    """(size,): contexts in the body's precision."""
    exact: Tensor
    """(size,): phase, pitch and samples, float64."""
    done_frames: int = 0
    """Whose sound has been given out."""
    ended: bool = False
    noise: Tensor | None = None
    """Numbers to use in place of those that the key gives, from the stream's start."""

    @property
    def bytes(self) -> int:
        """Of device memory."""
        held = (self.mel, self.carried, self.exact)
        return sum(tensor.numel() * tensor.element_size() for tensor in held)
