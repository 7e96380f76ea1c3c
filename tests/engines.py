"""Real processes for the tests of the engine's client."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

import numpy as np
import psutil

from streaming.config import EngineSettings, TextSettings
from streaming.engine.client import ContextRequest, EngineClient
from streaming.messages import Audio, Failed, Finished

READY_S = 30.0
CAPACITY = 60_000


@dataclass
class Heard:
    """What the sink of one context was told."""

    events: list = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    audible: asyncio.Event = field(default_factory=asyncio.Event)
    context: object = None

    def __call__(self, event):
        self.events.append(event)
        if isinstance(event, Audio):
            self.audible.set()
        if isinstance(event, Finished | Failed):
            self.over.set()

    @property
    def pcm(self):
        return b"".join(event.pcm for event in self.events if isinstance(event, Audio))

    @property
    def samples(self):
        return np.frombuffer(self.pcm, "<i2")

    @property
    def last(self):
        return self.events[-1]

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    async def finished(self, timeout_s=20.0):
        async with asyncio.timeout(timeout_s):
            await self.over.wait()
        return self.last

    async def speaks(self, timeout_s=20.0):
        async with asyncio.timeout(timeout_s):
            await self.audible.wait()


def say(client, *deltas, end=True, **request):
    """Open a context, append, end."""
    heard = Heard()
    heard.context = client.open(ContextRequest(**request), heard)
    for delta in deltas:
        heard.context.append(delta)
    if end:
        heard.context.end()
    return heard


async def until(condition, timeout_s=20.0):
    """Wait for something that has no event of its own."""
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - a process tells no event of ours
            await asyncio.sleep(0.005)


async def listen(heard):
    """Report everything as played until the context is over."""
    while not heard.over.is_set():
        heard.context.played(len(heard.samples))
        await asyncio.sleep(0.005)


def alive(pid):
    """Whether a process of that number is there, dead or not."""
    return psutil.pid_exists(pid)


def is_dead(process):
    """Whether all of a killed process has ended, though its parent may not have taken note."""
    # Its first thread may have ended before the others.
    return process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1


def descriptors():
    """How many this process has open."""
    return psutil.Process().num_fds()


@contextlib.asynccontextmanager
async def running(*, workers=1, ready=True, **settings):
    """A client with its processes, closed on the way out whatever happened."""
    texts = TextSettings(workers=workers)
    settings = {"runner": "tone", "capacity": CAPACITY, "text": texts} | settings
    client = EngineClient(EngineSettings(**settings))
    await client.start()
    try:
        if ready:
            await client.wait_ready(READY_S)
        yield client
    finally:
        await client.close()
