"""Steps captured once on CUDA and replayed: one launch in place of a thousand.

A captured step looks at tensors that stay where they are: what is given is copied into them, what
was made is copied out. All shapes of a step share those, and what lies between: they are replayed
one at a time. A shape that cannot be captured runs as it is from then on, and is told of.
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
    """Something that runs work so that it can be run again without Python."""

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        """What runs it again, over the same tensors. ``work`` has run before, but not recorded.

        Raises ``RuntimeError`` where it cannot.
        """
        ...


class CudaRecord:
    """CUDA graphs. Those of one record share their memory: largest first, they need no more."""

    def __init__(self) -> None:
        self._pool: Any = None

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        """Captured on the current stream, whose priority its kernels keep."""
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
            work()
        return graph.replay


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
        self._buffers: dict[object, Tensor] = {}

    def __call__(self, shape: Hashable, given: Sequence[Tensor]) -> Tensors:
        """The step of ``given``; all that have the same ``shape`` are alike but in their values."""
        if shape not in self._kept:
            self._kept[shape] = self._recorded(shape, given)
        kept = self._kept[shape]
        if kept is None:
            return self._step(tuple(given))
        _copy(given, kept.given)
        kept.replay()
        return tuple(made.clone() for made in kept.made)

    def _recorded(self, shape: Hashable, given: Sequence[Tensor]) -> _Kept | None:
        fixed = self._places("given", given)
        try:
            _copy(given, fixed)
            # Run once outside the capture: it is when libraries choose their kernels.
            made = self._places("made", self._step(fixed))
            replay = self._record(lambda: _copy(self._step(fixed), made))
        except RuntimeError as error:
            _log.warning("%s steps of shape %s are not captured: %s", self._name, shape, error)
            return None
        return _Kept(fixed, made, replay)

    def _places(self, side: str, likes: Sequence[Tensor]) -> Tensors:
        """Where such tensors stay; a shape met after a larger one takes its place."""
        return tuple(self._place((side, at), like) for at, like in enumerate(likes))

    def _place(self, key: object, like: Tensor) -> Tensor:
        held = self._buffers.get(key)
        if held is None or held.numel() < like.numel():
            held = self._buffers[key] = like.new_empty(like.numel())
        return held[: like.numel()].view(like.shape)


def _copy(given: Sequence[Tensor], fixed: Sequence[Tensor]) -> None:
    for place, new in zip(fixed, given, strict=True):
        place.copy_(new)
