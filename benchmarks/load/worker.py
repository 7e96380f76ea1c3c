"""The sessions of one client process, from their start to their records."""

from __future__ import annotations

import asyncio
import gc
import importlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.load.arrivals import Poisson, start_later, talk_without_pause
from benchmarks.load.measure import Record
from benchmarks.load.options import Options
from benchmarks.load.session import Session

GRACE_S = 15.0
"""A run that has not stopped by itself so long after its end is broken, and is stopped."""


@dataclass(frozen=True)
class Result:
    """What came of the sessions of one process."""

    records: tuple[Record, ...]
    errors: Counter[str]
    missed: int
    pre_skip: int
    wall_s: float


def run(options: Options, share: int) -> Result:
    """Every ``processes``-th session, beginning with the ``share``-th."""
    collecting = gc.isenabled()
    gc.disable()  # a pause here would look like a late packet
    try:
        with asyncio.Runner(loop_factory=_fast_loop()) as runner:
            return runner.run(_run(options, share))
    finally:
        if collecting:
            gc.enable()


async def _run(options: Options, share: int) -> Result:
    begun_s = time.perf_counter()
    end_s = begun_s + options.seconds
    numbers = range(share, options.sessions, options.processes)
    sessions = [Session(options, number, end_s) for number in numbers]
    pool = Poisson(options, end_s, share) if options.arrivals == "poisson" else None

    async def one(session: Session, number: int) -> None:
        await start_later(number, options)
        await (pool.serve(session) if pool else talk_without_pause(session, end_s))

    async with asyncio.timeout(options.seconds + GRACE_S), asyncio.TaskGroup() as tasks:
        for session, number in zip(sessions, numbers, strict=True):
            tasks.create_task(one(session, number))
        if pool:
            tasks.create_task(pool.run())
    for session in sessions:
        session.close()
    wall_s = time.perf_counter() - begun_s
    await asyncio.sleep(0.2)  # let the goodbyes out
    return Result(
        records=tuple(record for session in sessions for record in session.records),
        errors=sum((session.errors for session in sessions), Counter[str]()),
        missed=pool.missed if pool else 0,
        pre_skip=max((session.pre_skip for session in sessions), default=0),
        wall_s=wall_s,
    )


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop where it is installed (not on Windows): the client should cost little."""
    try:
        factory: Callable[[], asyncio.AbstractEventLoop]
        factory = importlib.import_module("uvloop").new_event_loop
    except ImportError:
        return None
    return factory
