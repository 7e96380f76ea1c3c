"""The engine and the front ends as one: started together, and ready when all of them are.

Knows: which processes there are, and when speech would begin at once. Does not know: contexts, what
a message means, how one process is kept running (``supervisor.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from streaming.clock import Clock, LoopClock
from streaming.config import EngineSettings
from streaming.engine.supervisor import Supervisor
from streaming.engine.wire import from_engine, from_text
from streaming.errors import EngineLoading, Internal
from streaming.messages import PROBE_CTX, FromEngine, FromText, Message, TextEnd


@dataclass(frozen=True)
class Heard:
    """Who is called when a process speaks or dies; a front end is told by its number."""

    engine: Callable[[list[FromEngine]], None]
    text: Callable[[int, list[FromText]], None]
    engine_lost: Callable[[], None]
    text_lost: Callable[[int], None]


class Processes:
    """One engine process and its front ends."""

    def __init__(self, settings: EngineSettings, heard: Heard, clock: Clock | None) -> None:
        self._settings = settings
        self._heard = heard
        self._clock = clock
        self._engine: Supervisor[FromEngine] | None = None
        self._texts: list[Supervisor[FromText]] = []
        self._settled = asyncio.Event()
        """Set while all are ready, or one will never be."""

    async def start(self) -> None:
        """Start them; they become ready later.

        Raises OSError where one cannot start; those that could are there until ``close``.
        """
        clock = self._clock or LoopClock()
        self._engine = Supervisor(
            "engine",
            self._settings,
            clock,
            reader=from_engine,
            on_messages=self._heard.engine,
            on_change=self._engine_changed,
        )
        self._texts = [
            Supervisor(
                "text",
                self._settings,
                clock,
                reader=from_text,
                on_messages=partial(self._heard.text, worker),
                on_change=partial(self._text_changed, worker),
                probe=TextEnd(ctx=PROBE_CTX),
            )
            for worker in range(self._settings.text.workers)
        ]
        starts = [asyncio.create_task(child.start()) for child in self._children]
        try:
            await asyncio.gather(*starts)
        finally:  # where one failed, or we are cancelled, the others are still being started
            await asyncio.wait(starts)

    async def wait_ready(self, timeout_s: float) -> None:
        """Return once all are ready.

        Raises:
            EngineLoading: that was not so within the time.
            Internal: it will never be; the message says why.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
                while not (self.ready or self._failed):  # one is dead, and we shall hear of it
                    self._settled.clear()
                    await self._settled.wait()
        except TimeoutError:
            raise EngineLoading(
                f"the engine is not ready after {timeout_s:g} s: {self.reason}"
            ) from None
        if self._failed:
            raise Internal(self.reason)

    async def close(self) -> None:
        """End them, within two seconds."""
        self._settled.set()
        await asyncio.gather(*(child.close() for child in self._children))

    @property
    def ready(self) -> bool:
        """Whether all are there and warm."""
        return bool(self._children) and all(child.ready for child in self._children)

    @property
    def reason(self) -> str:
        """Why not; empty when ready."""
        if not self._children:
            return "not started"
        return next((child.reason for child in self._children if child.reason), "")

    @property
    def restarts(self) -> int:
        """How often one of them had to be started again."""
        return sum(child.restarts for child in self._children)

    @property
    def engine_pid(self) -> int | None:
        """The engine's process, where there is one."""
        return self._engine.pid if self._engine else None

    @property
    def text_pids(self) -> list[int | None]:
        """The front ends' processes."""
        return [child.pid for child in self._texts]

    @property
    def texts(self) -> int:
        """How many front ends there are."""
        return len(self._texts)

    def to_engine(self, message: Message) -> None:
        """Tell the engine; nobody where none runs."""
        if self._engine is not None:
            self._engine.send(message)

    def to_text(self, worker: int, message: Message) -> None:
        """Tell that front end; nobody while it does not run."""
        self._texts[worker].send(message)

    def engine_up(self) -> None:
        """The engine has said that it is warm."""
        self._speaking.came_up()

    def engine_cannot(self, failure: str) -> None:
        """The engine has said that it cannot run; starting it again would not help."""
        self._speaking.give_up(failure)

    def text_up(self, worker: int) -> None:
        """That front end has answered its probe."""
        self._texts[worker].came_up()

    @property
    def _speaking(self) -> Supervisor[FromEngine]:
        assert self._engine is not None, "it speaks, so it was started"
        return self._engine

    @property
    def _children(self) -> list[Supervisor[FromEngine] | Supervisor[FromText]]:
        return [*([self._engine] if self._engine else []), *self._texts]

    @property
    def _failed(self) -> bool:
        """Whether they will never be ready."""
        return any(child.state in {"failed", "closed"} for child in self._children)

    def _engine_changed(self) -> None:
        if self._speaking.state in {"restarting", "failed"}:
            self._heard.engine_lost()
        self._review()

    def _text_changed(self, worker: int) -> None:
        if self._texts[worker].state == "restarting":
            self._heard.text_lost(worker)
        self._review()

    def _review(self) -> None:
        if self.ready or self._failed:
            self._settled.set()
        else:
            self._settled.clear()
