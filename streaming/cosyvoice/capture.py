"""Steps captured once on CUDA and replayed: one launch in place of a thousand.

A captured step looks at tensors that stay where they are: what is given is copied into them, what
was made is copied out. All shapes of a step share those, and what lies between: they are replayed
one at a time. A shape that cannot be captured runs as it is from then on, and is told of; one that
memory does not hold is tried again when it comes again.
Knows: tensors, streams. Does not know: what a step computes, which shapes come again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

Tensors = tuple[Tensor, ...]
Step = Callable[[Tensors], Tensors]
"""Tensors alone in and out; whatever else it needs is as it was when it was captured."""

Shape = TypeVar("Shape")

_log = logging.getLogger(__name__)

_ALONE = threading.Lock()
"""Held by who captures, and by who gives memory back: torch can do one such thing at a time, while
other threads launch, allocate and copy as they like."""


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
        self._broken: list[torch.cuda.CUDAGraph] = []

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        """Captured on the current stream, whose priority its kernels keep."""
        stream = torch.cuda.current_stream()
        if stream == torch.cuda.default_stream():  # which cannot be captured
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call] # torch gives it no types
            stream.wait_stream(torch.cuda.default_stream())
        graph = torch.cuda.CUDAGraph()
        # Not torch.cuda.graph(): it waits for the whole device and empties torch's caches before,
        # while other stages compute.
        with _ALONE, torch.cuda.stream(stream):
            self._capture(graph, work)
        return graph.replay

    def _capture(self, graph: torch.cuda.CUDAGraph, work: Callable[[], None]) -> None:
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        # Other stages' threads go on with the device meanwhile: only this one is captured.
        graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
        try:
            work()
        except BaseException:
            with suppress(RuntimeError):  # what was raised first says more
                self._end(graph)
            raise
        self._end(graph)

    def _end(self, graph: torch.cuda.CUDAGraph) -> None:
        try:
            graph.capture_end()
        except RuntimeError:
            self._abandon(graph)
            raise

    def _abandon(self, graph: torch.cuda.CUDAGraph) -> None:
        """Where CUDA gave a capture up, torch's allocator still waits for its end.

        It would take no other capture into this memory, and free nothing that crossed streams.
        """
        device, pool = torch.cuda.current_device(), self._pool
        self._pool = None
        self._broken.append(graph)  # torch may look at it whenever another capture begins
        try:
            torch._C._cuda_endAllocateToPool(device, pool)  # noqa: SLF001 - torch has no other
        except RuntimeError:
            return  # it had come that far
        torch._C._cuda_releasePool(device, pool)  # noqa: SLF001 - nor for this


def give_back(*, all_of_it: bool = False) -> None:
    """Let others have what torch keeps of the device for later; without a device, nothing.

    ``all_of_it``: nobody computes now, so what is kept for products goes too, and pinned memory.
    """
    with _ALONE:
        if all_of_it and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            torch._C._cuda_clearCublasWorkspaces()  # noqa: SLF001 - torch has no other
            torch._C._host_emptyCache()  # noqa: SLF001 - nor for this before 2.12
        torch.cuda.empty_cache()


def made_ready(name: str, shapes: Sequence[Shape], step: Callable[[Shape], object]) -> int:
    """Run ``step`` for each shape before anybody waits for it; for how many there was memory."""
    ready = 0
    for shape in shapes:
        try:
            step(shape)
        except torch.OutOfMemoryError as error:
            said = str(error).splitlines()[:1]
            _log.warning("%s steps of shape %s find no memory: %s", name, shape, *said)
        else:
            ready += 1
    if ready < len(shapes):
        give_back()
    return ready


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
        except torch.OutOfMemoryError:
            raise  # nothing is wrong with the shape
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
