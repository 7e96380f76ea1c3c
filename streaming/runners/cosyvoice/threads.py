"""Where a stage's steps are computed: in place on a CPU, in a thread and a stream on a GPU.

A thread a stage launches its kernels on a stream of its own and waits for them there, so no stage
waits for another, nothing runs on the default stream, and all that a network keeps is touched by
its own thread alone. Asked for one stream, all stages share one such thread, and take turns. Knows:
threads, streams. Does not know: what is computed.
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

    def synchronize(self) -> None:
        """Wait for all that was launched."""


class CudaStream:
    """A device's."""

    def __init__(self, device: torch.device, priority: int) -> None:
        self.cuda: torch.cuda.Stream = torch.cuda.Stream(device, priority=priority)  # type: ignore[no-untyped-call]

    def entered(self) -> AbstractContextManager[None]:
        """As torch does it."""
        return torch.cuda.stream(self.cuda)

    def synchronize(self) -> None:
        """Without holding up other threads."""
        self.cuda.synchronize()


class StreamThread:
    """One thread, one stream."""

    def __init__(self, name: str, stream: Stream) -> None:
        self._stream = stream
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def run(self, work: Callable[[], T]) -> Future[T]:
        """Done when the stream has done it."""
        return self._pool.submit(self._run, work)

    def close(self) -> None:
        """End the thread once it has done what it was given."""
        self._pool.shutdown()

    def _run(self, work: Callable[[], T]) -> T:
        with self._stream.entered():
            made = work()
            self._stream.synchronize()
        return made


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
