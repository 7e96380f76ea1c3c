"""When each session speaks: without pause, or at random.

Closed: a session opens its next context ``COVER_S`` before its listener has heard the one before,
so that the listener hears no pause as long as the first packet comes within that. Earlier would
measure the server's pacing: a packet far ahead of the listener is held back on purpose. Where a
language model writes, the listener also waits for its first words, as in a real dialog.
Poisson: contexts come at random to whichever session is free; one that finds none is *missed*.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque

from benchmarks.load.options import RAMP_S, Options
from benchmarks.load.session import Session
from benchmarks.load.texts import mean_speech_s

COVER_S = 0.2


async def talk_without_pause(session: Session, end_s: float) -> None:
    """Contexts one after another until the run ends."""
    while time.perf_counter() < end_s:
        await session.connect()
        if session.connected:
            await session.say()
        next_s = min(end_s, (session.played_out_s or 0.0) - COVER_S)
        await asyncio.sleep(max(0.0, next_s - time.perf_counter()))


class Poisson:
    """Contexts at random over a pool of sessions."""

    def __init__(self, options: Options, end_s: float, seed: int) -> None:
        self.missed = 0
        rate = options.rate or options.sessions / 2 / mean_speech_s()
        self._rate = rate / options.processes
        self._end_s = end_s
        self._random = random.Random(seed)  # noqa: S311 - the same arrivals in every run
        self._free: deque[Session] = deque()

    async def serve(self, session: Session) -> None:
        """Join the pool once connected."""
        await session.connect()
        if session.connected:
            self._free.append(session)

    async def run(self) -> None:
        """Hand out contexts until the run ends."""
        async with asyncio.TaskGroup() as tasks:
            while (now_s := time.perf_counter()) < self._end_s:
                wait_s = self._random.expovariate(self._rate)
                await asyncio.sleep(min(wait_s, self._end_s - now_s))
                if time.perf_counter() >= self._end_s:
                    break
                if self._free:
                    tasks.create_task(self._one(self._free.popleft()))
                else:
                    self.missed += 1

    async def _one(self, session: Session) -> None:
        await session.say()
        heard_s = (session.played_out_s or 0.0) - time.perf_counter()
        await asyncio.sleep(max(0.0, min(heard_s, self._end_s - time.perf_counter())))
        await self.serve(session)


async def start_later(number: int, options: Options) -> None:
    """Wait for a session's place in the ramp."""
    if not options.burst:
        await asyncio.sleep(number / options.sessions * min(RAMP_S, options.seconds / 2))
