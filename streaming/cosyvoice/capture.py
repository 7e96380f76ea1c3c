"""Steps captured once on CUDA and replayed: one launch in place of a thousand.

A captured step looks at tensors that stay where they are: what is given is copied into them, what
was made is copied out. A shape that cannot be captured runs as it is from then on, and is told of.
Knows: tensors, streams. Does not know: what a step computes, which shapes come again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

Tensors = tuple[Tensor, ...]
Step = Callable[[Tensors], Tensors]
"""Tensors alone in and out; whatever else it needs is as it was when it was captured."""

_log = logging.getLogger(__name__)


class Record(Protocol):
    """Something that runs a step so that it can be run again without Python."""

    def __call__(self, step: Callable[[], Tensors]) -> tuple[Callable[[], None], Tensors]:
        """What runs it again, and the tensors in which its results then are.

        Raises ``RuntimeError`` where it cannot.
        """
        ...


class CudaRecord:
    """CUDA graphs. Those of one record share their memory: they are replayed one at a time."""

    def __init__(self) -> None:
        self._pool: Any = None

    def __call__(self, step: Callable[[], Tensors]) -> tuple[Callable[[], None], Tensors]:
        """Captured on the current stream, whose priority its kernels keep."""
        step()  # libraries choose their kernels outside the capture
        current = torch.cuda.current_stream()
        current.synchronize()
        # The default stream cannot be captured: there torch takes one of its own.
        stream = None if current == torch.cuda.default_stream() else current
        graph = torch.cuda.CUDAGraph()
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        # Other stages' threads go on with the device meanwhile: only this one is captured.
        with torch.cuda.graph(
            graph, pool=self._pool, stream=stream, capture_error_mode="thread_local"
        ):
            made = step()
        return graph.replay, made


@dataclass(frozen=True)
class _Kept:
    given: Tensors
    made: Tensors
    replay: Callable[[], None]


class Captured:
    """One network's steps, each shape recorded when it is first met."""

    def __init__(self, name: str, step: Step, record: Record) -> None:
        """``name`` is for the log."""
        self._name = name
        self._step = step
        self._record = record
        self._kept: dict[Hashable, _Kept | None] = {}

    def __call__(self, shape: Hashable, given: Sequence[Tensor]) -> Tensors:
        """The step of ``given``; all that have the same ``shape`` are alike but in their values."""
        if shape not in self._kept:
            self._kept[shape] = self._recorded(shape, given)
        kept = self._kept[shape]
        if kept is None:
            return self._step(tuple(given))
        for fixed, new in zip(kept.given, given, strict=True):
            fixed.copy_(new)
        kept.replay()
        return tuple(made.clone() for made in kept.made)

    def _recorded(self, shape: Hashable, given: Sequence[Tensor]) -> _Kept | None:
        fixed = tuple(each.clone() for each in given)
        try:
            replay, made = self._record(lambda: self._step(fixed))
        except RuntimeError as error:
            _log.warning("%s steps of shape %s are not captured: %s", self._name, shape, error)
            return None
        return _Kept(fixed, made, replay)
