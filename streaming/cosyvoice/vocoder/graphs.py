"""Steps of the vocoder, captured once a shape and replayed.

Knows: what a shape is. Does not know: which are worth it, networks, devices.
"""

from __future__ import annotations

from torch import Tensor

from streaming.cosyvoice.capture import Captured, Record, Tensors
from streaming.cosyvoice.vocoder.stepping import Advance


class Graphs:
    """A step that is replayed; call it as the step itself."""

    def __init__(self, advance: Advance, record: Record) -> None:
        self._advance = advance
        self._captured = Captured("vocoder", self._step, record)

    def __call__(
        self, mel: Tensor, plan: Tensor, carried: Tensor, exact: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Samples, and what the rows carry on."""
        rows, frames = mel.shape[:2]
        samples, carried, exact = self._captured((rows, frames), (mel, plan, carried, exact))
        return samples, carried, exact

    def _step(self, given: Tensors) -> Tensors:
        mel, plan, carried, exact = given
        return self._advance(mel, plan, carried, exact)
