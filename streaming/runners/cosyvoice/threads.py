"""Where a stage's steps are computed: in place on a CPU, in a thread and a stream on a GPU.

A thread a stage launches its kernels on a stream of its own, and another waits for them. So no
stage waits for another, a step can be launched while the one before it is computed, nothing runs on
the default stream, and all that a network keeps is touched by its own thread alone. Asked for one
stream, all stages share such a pair, and take turns. Knows: threads, streams. Does not know: what
is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

import torch

T = TypeVar("T")

FIRST, LAST = -1, 0
"""Stream priorities: lower goes first."""

ONE = 1
"""Of streams: all on the same."""


class Place(Protocol):
    """Somewhere to compute."""

    def run(self, work: Callable[[], T]) -> Future[T]:
        """Compute; in order with all else that was given to this place."""
        ...

    def close(self) -> None:
        """Nothing more will be given."""


class Inline:
    """Here and now."""

    def run(self, work: Callable[[], T]) -> Future[T]:
        """Done when this returns; what it raises is in the future."""
        future: Future[T] = Future()
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 - handed on, as a thread would
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Nothing is held."""


class Stream(Protocol):
    """What is launched on it is computed in order."""

    def entered(self) -> AbstractContextManager[None]:
        """While it lasts, what this thread launches goes there."""
        ...

    def mark(self) -> Callable[[], None]:
        """What waits for all that was launched on it until now."""
        ...


class CudaStream:
    """A device's."""

    def __init__(self, device: torch.device, priority: int) -> None:
        self.cuda: torch.cuda.Stream = torch.cuda.Stream(device, priority=priority)  # type: ignore[no-untyped-call]

    def entered(self) -> AbstractContextManager[None]:
        """As torch does it."""
        return torch.cuda.stream(self.cuda)

    def mark(self) -> Callable[[], None]:
        """An event's wait, which holds up no other thread."""
        event = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        event.record(self.cuda)
        wait: Callable[[], None] = event.synchronize
        return wait


class StreamThread:
    """One stream, a thread that launches on it, and one that waits for it."""

    def __init__(self, name: str, stream: Stream) -> None:
        self._stream = stream
        self._launches = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._waits = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"{name}-waits")

    def run(self, work: Callable[[], T]) -> Future[T]:
        """Done when the stream has done it."""
        future: Future[T] = Future()
        self._launches.submit(self._launch, work, future)
        return future

    def close(self) -> None:
        """End the threads once they have done what they were given."""
        self._launches.shutdown()
        self._waits.shutdown()

    def _launch(self, work: Callable[[], T], future: Future[T]) -> None:
        try:
            with self._stream.entered():
                made = work()
                wait = self._stream.mark()
        except BaseException as error:  # noqa: BLE001 - handed on to whoever waits for the result
            self._waits.submit(future.set_exception, error)
        else:
            self._waits.submit(_finish, wait, made, future)


def _finish(wait: Callable[[], None], made: T, future: Future[T]) -> None:
    try:
        wait()
    except BaseException as error:  # noqa: BLE001 - what was launched failed on the device
        future.set_exception(error)
    else:
        future.set_result(made)


def places(
    device: torch.device,
    stages: Mapping[str, int],
    streams: int,
    stream: Callable[[torch.device, int], Stream] = CudaStream,
) -> dict[str, Place]:
    """One a stage, by name, with its stream's priority; one for all where ``streams`` says so.

    On a CPU all are the same, whatever it says.
    """
    if device.type == "cpu":
        return dict.fromkeys(stages, Inline())
    if streams == ONE:
        return dict.fromkeys(stages, StreamThread("stages", stream(device, FIRST)))
    return {name: StreamThread(name, stream(device, first)) for name, first in stages.items()}
