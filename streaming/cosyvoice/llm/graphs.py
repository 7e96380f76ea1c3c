"""Steps of a shape that comes again, recorded once and replayed without launching each kernel.

What is recorded takes one table of integers and gives choices, so a replay is a copy in and a copy
out. Steps with prompt chunks are of many shapes, those that draw nothing are rare: both run as they
are. Does not know: decodings, when a shape is worth it, how something is recorded.
"""

from __future__ import annotations

import torch
from torch import Tensor

from streaming.cosyvoice.capture import Captured, Record, Tensors
from streaming.cosyvoice.llm.packing import Packed, StepShape
from streaming.cosyvoice.llm.step import Stepper
from streaming.cosyvoice.transfer import moved


class Choices:
    """What a step drew, there or on its way to the host."""

    def __init__(self, host: Tensor, there: torch.cuda.Event | None) -> None:
        """``host`` (draws,) int64 is good once ``there`` has happened."""
        self._host = host
        self._there = there

    def __getitem__(self, at: int) -> int:
        """One of them; waits until they are there."""
        if self._there is not None:
            self._there.synchronize()
            self._there = None
        return int(self._host[at])


class Launcher:
    """Runs packed steps, replaying where it can."""

    def __init__(self, stepper: Stepper, record: Record | None) -> None:
        """``record``: where steps are recorded at all."""
        self._stepper = stepper
        self._record = record
        self._captured: dict[StepShape, Captured] = {}

    @property
    def captures(self) -> bool:
        """Whether steps are recorded."""
        return self._record is not None

    def run(self, packed: Packed) -> Choices:
        """Launch it; the choices are on their way when this returns."""
        table = moved(packed.table, self._stepper.device)
        if self._record is None or packed.chunks or not packed.shape.draws:
            choices = self._stepper.run(table, packed.shape, packed.chunks)
        else:
            choices = self._replayed(table, packed.shape)
        return _on_the_way(choices)

    def capture(self, shape: StepShape) -> None:
        """Record a shape before it is met; padding alone is computed for that."""
        self._replayed(self._stepper.idle_table(shape), shape)

    def _replayed(self, table: Tensor, shape: StepShape) -> Tensor:
        if shape not in self._captured:
            self._captured[shape] = self._capturing(shape)
        (choices,) = self._captured[shape](shape, (table,))
        return choices

    def _capturing(self, shape: StepShape) -> Captured:
        assert self._record is not None, "only then is a step recorded"

        def step(given: Tensors) -> Tensors:
            return (self._stepper.run(given[0], shape),)

        return Captured("language model", step, self._record)


def _on_the_way(choices: Tensor) -> Choices:
    if choices.device.type == "cpu":
        return Choices(choices, None)
    host = torch.empty(choices.shape, dtype=choices.dtype, pin_memory=True)
    host.copy_(choices, non_blocking=True)
    there = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    there.record(torch.cuda.current_stream(choices.device))
    return Choices(host, there)
