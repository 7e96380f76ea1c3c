"""Keeps one child process running: starts it again when it dies, kills it when it is silent.

Knows: a process's life and when to lose patience. Does not know: messages, contexts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

import structlog

from streaming.clock import Clock, Timer
from streaming.config import EngineSettings
from streaming.engine.child import Child, spawn
from streaming.engine.wire import BatchReader
from streaming.messages import Message

T = TypeVar("T")

STEADY_S = 10.0
"""A process that lived so long died of something new: it is started again at once."""

BACKOFF_S = 0.25
BACKOFF_MAX_S = 30.0

State = Literal["loading", "ready", "restarting", "failed", "closed"]

_log = structlog.get_logger("streaming.engine")


def backoff_s(deaths: int) -> float:
    """How long to wait before starting again after so many early deaths in a row."""
    return 0.0 if deaths <= 1 else min(BACKOFF_S * 2.0 ** (deaths - 2), BACKOFF_MAX_S)


class Supervisor(Generic[T]):
    """One child of ``kind``, replaced as often as need be."""

    def __init__(
        self,
        kind: Literal["engine", "text"],
        settings: EngineSettings,
        clock: Clock,
        *,
        reader: Callable[[], BatchReader[T]],
        on_messages: Callable[[list[T]], None],
        on_change: Callable[[], None],
        probe: Message | None = None,
    ) -> None:
        self._kind: Literal["engine", "text"] = kind
        self._settings = settings
        self._clock = clock
        self._reader = reader
        self._on_messages = on_messages
        self._on_change = on_change
        self._probe = probe
        self._child: Child[T] | None = None
        self._spawning: asyncio.Task[None] | None = None
        self._timer: Timer | None = None
        self._watch_s = 0.0
        self._born_s = 0.0
        self._heard_s = 0.0
        self._deaths = 0
        self.state: State = "loading"
        self.failure = ""
        self.restarts = 0

    @property
    def ready(self) -> bool:
        """Whether it is there and warm; not from the moment of its death on."""
        return self.state == "ready" and self._child is not None and self._child.alive

    @property
    def reason(self) -> str:
        """Why it is not ready; empty when it is."""
        if self.state == "failed":
            return f"failed: {self.failure}"
        if self.state == "ready":
            return "" if self.ready else "restarting"
        return self.state

    @property
    def pid(self) -> int | None:
        """The process, where there is one."""
        return self._child.pid if self._child else None

    async def start(self) -> None:
        """Start the first process; raises OSError where the system would not."""
        self._child = self._new_child()
        await spawn(self._child, self._kind, self._settings)

    def send(self, message: Message) -> None:
        """To the process that runs; to nobody where none does."""
        if self._child is not None:
            self._child.send(message)

    def came_up(self) -> None:
        """It has said that it is ready."""
        if self.state in {"loading", "restarting"}:
            self._become("ready")

    def give_up(self, failure: str) -> None:
        """It has said that it cannot run; starting it again would not help."""
        self.failure = failure
        self._become("failed")

    async def close(self) -> None:
        """End it for good; returns when it has ended."""
        self._become("closed")
        if self._timer is not None:
            self._timer.cancel()
        if self._spawning is not None:
            await asyncio.wait([self._spawning])
        if self._child is not None:
            await self._child.close()
            self._child = None

    def _new_child(self) -> Child[T]:
        child = Child(self._kind, self._reader(), self._hear, self._lost)
        self._born_s = self._heard_s = self._clock.now()
        self._ask()
        if self._probe is not None:
            child.send(self._probe)
        return child

    def _become(self, state: State) -> None:
        if self.state != "closed":
            self.state = state
            self._on_change()

    def _hear(self, messages: list[T]) -> None:
        self._heard_s = self._clock.now()
        self._on_messages(messages)

    # --- death -----------------------------------------------------------------------------

    def _lost(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        pid, self._child = self.pid, None
        _log.error("child_died", child=self._kind, pid=pid)
        if self.state not in {"failed", "closed"}:
            self._start_again()

    def _start_again(self) -> None:
        now_s = self._clock.now()
        self._deaths = 1 if now_s - self._born_s > STEADY_S else self._deaths + 1
        self.restarts += 1
        self._become("restarting")
        self._timer = self._clock.call_at(now_s + backoff_s(self._deaths), self._respawn)

    def _respawn(self) -> None:
        self._spawning = asyncio.get_running_loop().create_task(self._spawn_again())

    async def _spawn_again(self) -> None:
        try:
            await self.start()
        except OSError as error:
            _log.error("child_not_started", child=self._kind, error=str(error))
            self._lost()

    # --- silence ---------------------------------------------------------------------------

    def _ask(self) -> None:
        """Look again in a quarter of the time it may be silent."""
        self._watch_s = self._clock.now() + self._settings.hang_timeout_s / 4
        self._timer = self._clock.call_at(self._watch_s, self._watch)

    def _watch(self) -> None:
        now_s = self._clock.now()
        if now_s - self._watch_s > self._settings.hang_timeout_s / 4:
            # We ourselves were late; what it said meanwhile has not been read yet.
            self._heard_s = now_s
        ready = self.state == "ready"
        since_s = self._heard_s if ready else self._born_s
        limit_s = self._settings.hang_timeout_s if ready else self._settings.load_timeout_s
        if now_s - since_s > limit_s and self._child is not None:
            _log.error("child_hangs", child=self._kind, pid=self.pid, silent_s=now_s - since_s)
            self._child.kill()
        elif self._probe is not None:
            self.send(self._probe)
        self._ask()
