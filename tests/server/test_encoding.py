"""The encoder threads: a context's jobs in order, the most urgent first, results on the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from server.encoding import EncoderPool


@pytest.fixture
async def pool() -> AsyncIterator[EncoderPool]:
    made = EncoderPool(2)
    yield made
    made.close()


class Results:
    """What came back, in order, and where it came back."""

    def __init__(self) -> None:
        self.got: list[object] = []
        self.threads: set[int] = set()
        self._came = asyncio.Event()

    def __call__(self, result: object) -> None:
        self.got.append(result)
        self.threads.add(threading.get_ident())
        self._came.set()

    async def of(self, count: int) -> list[object]:
        async with asyncio.timeout(5):
            while len(self.got) < count:
                self._came.clear()
                await self._came.wait()
        return self.got


class Gate:
    """A job that holds its thread until it is opened."""

    def __init__(self, pool: EncoderPool, thread: int) -> None:
        self._entered = threading.Event()
        self._opened = threading.Event()
        pool.submit(thread, 0.0, self._hold, lambda _: None)
        assert self._entered.wait(5)

    def _hold(self) -> None:
        self._entered.set()
        self._opened.wait(5)

    def open(self) -> None:
        self._opened.set()


async def test_results_come_back_on_the_event_loop(pool: EncoderPool) -> None:
    results = Results()
    pool.submit(0, 0.0, threading.get_ident, results)
    (worker,) = await results.of(1)
    assert worker != threading.get_ident()
    assert results.threads == {threading.get_ident()}


async def test_jobs_of_equal_deadline_keep_their_order_within_a_thread(pool: EncoderPool) -> None:
    results = Results()
    for number in range(200):
        pool.submit(0, 1.0, lambda number=number: number, results)
    assert await results.of(200) == list(range(200))


async def test_the_most_urgent_goes_first(pool: EncoderPool) -> None:
    results = Results()
    gate = Gate(pool, 0)
    for deadline_s in (3.0, 1.0, 2.0):
        pool.submit(0, deadline_s, lambda deadline_s=deadline_s: deadline_s, results)
    gate.open()
    assert await results.of(3) == [1.0, 2.0, 3.0]


async def test_a_thread_that_is_held_up_does_not_hold_up_another(pool: EncoderPool) -> None:
    results = Results()
    gate = Gate(pool, 0)
    pool.submit(1, 9.0, lambda: "done", results)
    assert await results.of(1) == ["done"]
    gate.open()


async def test_threads_are_taken_in_turn(pool: EncoderPool) -> None:
    assert [pool.thread() for _ in range(5)] == [0, 1, 0, 1, 0]


async def test_an_exception_is_a_result_and_the_thread_goes_on(pool: EncoderPool) -> None:
    def fail() -> None:
        raise ValueError("half a sample")

    results = Results()
    pool.submit(0, 0.0, fail, results)
    pool.submit(0, 0.0, lambda: "next", results)
    fault, after = await results.of(2)
    assert isinstance(fault, ValueError)
    assert after == "next"


async def test_awaiting_gives_the_result_or_raises_it(pool: EncoderPool) -> None:
    def fail() -> None:
        raise ValueError("half a sample")

    assert await pool.run(lambda: 3) == 3
    with pytest.raises(ValueError, match="half a sample"):
        await pool.run(fail)


async def test_whoever_stops_waiting_disturbs_nobody(pool: EncoderPool) -> None:
    gates = [Gate(pool, thread) for thread in (0, 1)]
    waiting = asyncio.create_task(pool.run(lambda: 1))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    for gate in gates:
        gate.open()
    assert await pool.run(lambda: 2) == 2


async def test_what_waits_is_counted(pool: EncoderPool) -> None:
    results = Results()
    gate = Gate(pool, 0)
    assert pool.waiting == 0
    for _ in range(3):
        pool.submit(0, 0.0, lambda: None, results)
    assert pool.waiting == 3
    gate.open()
    await results.of(3)
    assert pool.waiting == 0


async def test_closing_ends_the_threads_and_drops_what_was_not_begun() -> None:
    before = threading.active_count()
    pool = EncoderPool(3)
    results = Results()
    gate = Gate(pool, 0)
    pool.submit(0, 0.0, lambda: "never", results)
    asyncio.get_running_loop().call_later(0.02, gate.open)
    await asyncio.to_thread(pool.close)
    await asyncio.sleep(0)
    assert results.got == []
    assert {t for t in threading.enumerate() if t.name.startswith("encoder-")} == set()
    assert threading.active_count() <= before + 1  # the one that closed it may linger


async def test_a_job_that_ends_after_its_loop_harms_nothing() -> None:
    made: list[EncoderPool] = []
    opened = threading.Event()

    async def short_lived() -> None:
        pool = EncoderPool(1)
        made.append(pool)
        pool.submit(0, 0.0, lambda: opened.wait(5), lambda _: None)

    await asyncio.to_thread(asyncio.run, short_lived())
    opened.set()
    await asyncio.to_thread(made[0].close)


async def test_without_a_number_there_is_a_thread_for_each_core_up_to_eight() -> None:
    pool = EncoderPool()
    count = sum(t.name.startswith("encoder-") for t in threading.enumerate())
    pool.close()
    assert 1 <= count <= 8
