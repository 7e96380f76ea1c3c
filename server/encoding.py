"""Encoding off the event loop: a few threads that do the most urgent job first.

libopus and soxr release the interpreter while they work, so threads are enough. A context's jobs
all go to one thread, in the order they were given: an encoder carries state from one to the next.

Knows: jobs, deadlines, threads. Does not know: audio.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(order=True, slots=True)
class _Job:
    deadline_s: float
    order: int
    run: Callable[[], None] = field(compare=False)


class EncoderPool:
    """Threads with a queue each; results come back on the event loop."""

    def __init__(self, threads: int = 0) -> None:
        self._loop = asyncio.get_running_loop()
        self._results: deque[Callable[[], None]] = deque()
        self._woken = False
        count = threads or min(8, os.cpu_count() or 1)
        self._workers = [_Worker(f"encoder-{n}") for n in range(count)]
        self._turn = itertools.count()

    @property
    def waiting(self) -> int:
        """Jobs not yet begun."""
        return sum(worker.waiting for worker in self._workers)

    def thread(self) -> int:
        """The thread for one context's jobs; threads are taken in turn."""
        return next(self._turn) % len(self._workers)

    def submit(
        self,
        thread: int,
        deadline_s: float,
        work: Callable[[], T],
        done: Callable[[T | BaseException], None],
    ) -> None:
        """Run ``work`` in that thread, then ``done(result or exception)`` on the event loop.

        Deadlines of one context must not decrease: they are what keeps its jobs in order.
        """

        def run() -> None:
            try:
                result: T | BaseException = work()
            except Exception as fault:  # noqa: BLE001 - handed to the owner, who ends that context
                result = fault
            self._deliver(lambda: done(result))

        self._workers[thread].put(deadline_s, run)

    async def run(self, work: Callable[[], T], deadline_s: float = 0.0) -> T:
        """Run ``work`` in a thread and wait for it."""
        future: asyncio.Future[T] = self._loop.create_future()

        def done(result: T | BaseException) -> None:
            if future.cancelled():
                return
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)

        self.submit(self.thread(), deadline_s, work, done)
        return await future

    def close(self) -> None:
        """End the threads; jobs not begun are dropped."""
        for worker in self._workers:
            worker.close()

    def _deliver(self, call: Callable[[], None]) -> None:
        self._results.append(call)
        if not self._woken:
            # One wake-up serves all results that gather until the loop comes round.
            self._woken = True
            try:
                self._loop.call_soon_threadsafe(self._hand_over)
            except RuntimeError:
                # The loop is closed: nobody waits for the result any more.
                self._results.clear()

    def _hand_over(self) -> None:
        self._woken = False
        while self._results:
            self._results.popleft()()


class _Worker:
    def __init__(self, name: str) -> None:
        self._jobs: list[_Job] = []
        self._order = itertools.count()
        self._ready = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    def put(self, deadline_s: float, run: Callable[[], None]) -> None:
        with self._ready:
            heapq.heappush(self._jobs, _Job(deadline_s, next(self._order), run))
            self._ready.notify()

    def close(self) -> None:
        with self._ready:
            self._closed = True
            self._jobs.clear()
            self._ready.notify()
        self._thread.join(timeout=5.0)

    def _work(self) -> None:
        while True:
            with self._ready:
                while not self._jobs and not self._closed:
                    self._ready.wait()
                if self._closed:
                    return
                job = heapq.heappop(self._jobs)
            job.run()
