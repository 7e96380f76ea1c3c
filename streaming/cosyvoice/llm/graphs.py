"""Steps of a shape that comes again, captured once and replayed without launching each kernel.

CUDA alone has that; elsewhere every step runs as it is, and ``mode`` says which it is. What is
captured takes one table of integers and gives choices, so a replay is a copy in and a copy out.
Steps with prompt chunks are of many shapes and are never captured. A graph is captured on the
stream that is current then (its kernels keep that stream's priority), unless that is the default.
Does not know: decodings, when a shape is worth it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from streaming.cosyvoice.llm.packing import Packed, StepShape
from streaming.cosyvoice.llm.step import Stepper


@dataclass(frozen=True)
class _Captured:
    graph: torch.cuda.CUDAGraph
    table: Tensor
    choices: Tensor


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

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self.captures = stepper.device.type == "cuda"
        self._captured: dict[StepShape, _Captured] = {}
        self._pool = torch.cuda.graph_pool_handle() if self.captures else None

    @property
    def mode(self) -> str:
        """``cuda graphs``, or ``eager on`` the device and why."""
        if self.captures:
            return "cuda graphs"
        return f"eager on {self._stepper.device.type}: graphs are captured on CUDA alone"

    def run(self, packed: Packed) -> Choices:
        """Launch it; the choices are on their way when this returns."""
        if not self.captures:
            return Choices(self._stepper.run(packed.table, packed.shape, packed.chunks), None)
        table = packed.table.pin_memory()
        if packed.chunks:
            table = table.to(self._stepper.device, non_blocking=True)
            return _on_the_way(self._stepper.run(table, packed.shape, packed.chunks))
        captured = self.capture(packed.shape)
        captured.table.copy_(table, non_blocking=True)
        captured.graph.replay()
        return _on_the_way(captured.choices)

    def capture(self, shape: StepShape) -> _Captured:
        """The graph of a shape, captured at the first call; padding alone is computed for that."""
        if shape in self._captured:
            return self._captured[shape]
        table = self._stepper.idle_table(shape)
        current = torch.cuda.current_stream(self._stepper.device)
        stream = None if current == torch.cuda.default_stream(self._stepper.device) else current
        self._stepper.run(table, shape)  # libraries choose their kernels outside the capture
        torch.cuda.synchronize(self._stepper.device)
        graph = torch.cuda.CUDAGraph()
        # Other stages' threads go on with the device meanwhile: only this one is captured.
        with torch.cuda.graph(
            graph, pool=self._pool, stream=stream, capture_error_mode="thread_local"
        ):
            choices = self._stepper.run(table, shape)
        self._captured[shape] = _Captured(graph, table, choices)
        return self._captured[shape]


def _on_the_way(choices: Tensor) -> Choices:
    host = torch.empty(choices.shape, dtype=choices.dtype, pin_memory=True)
    host.copy_(choices, non_blocking=True)
    there = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    there.record(torch.cuda.current_stream(choices.device))
    return Choices(host, there)
