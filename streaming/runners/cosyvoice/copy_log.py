"""What is copied between device and host, as a trace shows it.

On a CPU a copy is over when it returns. On a GPU it is launched like a step: then events on its
stream tell when the device began and when it was done. Where no trace is written nothing is kept.
Knows: when, how much, whose. Does not know: what is copied, or why.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from streaming.runners.base import Copied

Moment = Callable[[], float | None]
"""Seconds of ``time.monotonic``; None where the moment has not come."""

SAMPLES = "samples"
"""A line of copies, as those of the stages that copy: each in its own order."""

TO_HOST, TO_DEVICE = "to the host", "to the device"


class CopyLog:
    """Any thread may copy; one takes what was copied."""

    def __init__(self, mark: Callable[[], Moment] | None = None) -> None:
        """``mark`` is now, on the current stream; None: nothing is kept."""
        self._mark = mark
        self._begun: deque[tuple[str, str, tuple[int | str, ...], int, Moment, Moment]] = deque()

    @contextmanager
    def copying(
        self, line: str, way: str, owners: tuple[int | str, ...], size: int
    ) -> Iterator[None]:
        """What is launched meanwhile copies so many bytes of those contexts, or of that voice.

        What fails was no copy.
        """
        if self._mark is None:
            yield
            return
        began = self._mark()
        yield
        self._begun.append((line, way, owners, size, began, self._mark()))

    def take(self) -> list[Copied]:
        """What has come to its end since the last call."""
        taken = []
        for _ in range(len(self._begun)):
            line, way, owners, size, began, ended = copy = self._begun.popleft()
            began_s, ended_s = began(), ended()
            if began_s is None or ended_s is None:
                self._begun.append(copy)
            else:
                taken.append(Copied(line, way, began_s, ended_s, owners, size))
        return taken


NOTHING_KEPT = CopyLog()


def copy_log(device: torch.device) -> CopyLog:
    """One that keeps what is copied to that device, and from it."""
    return CopyLog(host_mark if device.type == "cpu" else CudaMarks(device))


def host_mark() -> Moment:
    """Now."""
    now_s = time.monotonic()
    return lambda: now_s


class CudaMarks:
    """Marks on a device's streams, told in seconds of the host."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._origin = self._event()
        self._origin.record(torch.cuda.Stream(device))  # type: ignore[no-untyped-call]
        self._origin.synchronize()
        self._origin_s = time.monotonic()

    def __call__(self) -> Moment:
        """When all that was launched on the current stream until now is done."""
        event = self._event()
        event.record(torch.cuda.current_stream(self._device))

        def moment() -> float | None:
            if not event.query():  # type: ignore[no-untyped-call]
                return None
            after_ms: float = self._origin.elapsed_time(event)
            return self._origin_s + after_ms / 1000

        return moment

    @staticmethod
    def _event() -> torch.cuda.Event:
        return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
