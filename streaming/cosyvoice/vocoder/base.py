"""What the engine asks of a vocoder, whichever generation it is.

Knows: the calls. Does not know: networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from streaming.cosyvoice.vocoder.state import VocoderState


class Vocoder(Protocol):
    """Mel frames to 24 kHz samples, a step of many streams at a time."""

    def begin(self, seed: int = 0) -> VocoderState:
        """A new stream; the seed is that of its noise."""

    def warm(self, rows: int) -> int:
        """Make ready what steps of so many rows need; how many shapes they have."""

    def step(
        self, rows: Sequence[tuple[VocoderState, Tensor, bool]]
    ) -> list[tuple[Tensor, VocoderState]]:
        """For each stream, its new frames (frames, 80) and whether they are its last.

        Gives the samples (any,) that are finished and the stream's next state. States are values:
        one that is dropped leaves nothing behind.
        """
