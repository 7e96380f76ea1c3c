"""Where recordings are handed in to be made prompts of: the parent's side of the prompt maker.

The process is started for the first recording and let go when there has been none for a while, so
that its networks do not stay in memory. One recording at a time is with it; others wait, up to a
bound. One that makes it crash or hang is refused, and the next one finds a new process.
Knows: the process and its patience. Does not know: what a prompt is, where it is kept.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from functools import partial

import structlog

from streaming.clock import Clock, LoopClock, Timer
from streaming.config import EngineSettings
from streaming.engine.child import Child, spawn
from streaming.engine.wire import from_prompts
from streaming.errors import (
    BadRecording,
    CosystreamError,
    GoingAway,
    Internal,
    Overloaded,
    by_code,
)
from streaming.messages import (
    Fatal,
    FromPrompts,
    PromptMade,
    PromptMake,
    PromptReady,
    PromptRefused,
)

RETRY_AFTER_MS = 2000

_log = structlog.get_logger("streaming.engine")


@dataclass(frozen=True)
class DeskLimits:
    """How much may wait, and for how long."""

    waiting: int = 8
    waiting_bytes: int = 1 << 27
    recording_s: float = 90.0
    """For one recording, with loading the networks where that has to be done."""
    idle_s: float = 120.0
    """Without a recording for so long, the process is let go."""


class PromptDesk:
    """``make`` prompts of recordings, one after another, in a process of its own."""

    def __init__(
        self,
        settings: EngineSettings,
        clock: Clock | None = None,
        limits: DeskLimits = DeskLimits(),
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._limits = limits
        self._turn = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._waiting = 0
        self._waiting_bytes = 0
        self._child: Child[FromPrompts] | None = None
        self._answer: asyncio.Future[PromptMade] | None = None
        self._request = 0
        self._ready = False
        self._idle: Timer | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False
        self.model = ""
        """The networks' fingerprint, once a process has said it."""

    @property
    def pid(self) -> int | None:
        """The process, where there is one."""
        return self._child.pid if self._child else None

    async def make(self, recording: bytes) -> PromptMade:
        """A prompt of a file of any kind.

        Raises:
            BadRecording: none can be made of it; each reason has a class of its own.
            Overloaded: too many wait already.
            GoingAway: the desk is closed.
            Internal: none can be made of any recording; the message says why.
        """
        self._admit(recording)
        self._waiting += 1
        self._waiting_bytes += len(recording)
        try:
            await self._turn.acquire()
        except BaseException:  # it waited in vain, or nobody waits for it any more
            self._leave(recording)
            raise
        # Who asked may leave; what the process is at must come to its end before the next.
        task = asyncio.get_running_loop().create_task(self._make(recording))
        task.add_done_callback(partial(self._done, recording))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End the process; who waits is told."""
        self._closed = True
        self._fail(GoingAway("the server is about to end"))
        self._let_go()
        await asyncio.gather(*self._ending)

    def _done(self, recording: bytes, task: asyncio.Task[PromptMade]) -> None:
        self._turn.release()
        self._leave(recording)
        if not task.cancelled():
            task.exception()  # where nobody waits for it any more, nobody needs to hear of it

    def _leave(self, recording: bytes) -> None:
        self._waiting -= 1
        self._waiting_bytes -= len(recording)

    def _admit(self, recording: bytes) -> None:
        if self._closed:
            raise GoingAway("the server is about to end")
        bytes_after = self._waiting_bytes + len(recording)
        too_many = self._waiting >= self._limits.waiting
        if too_many or (self._waiting and bytes_after > self._limits.waiting_bytes):
            raise Overloaded(
                f"{self._waiting} recordings wait already to be made voices of; try again",
                retry_after_ms=RETRY_AFTER_MS,
            )

    async def _make(self, recording: bytes) -> PromptMade:
        if self._closed:
            raise GoingAway("the server is about to end")
        clock = self._clock or LoopClock()
        self._rest()
        child = self._child or await self._start()
        self._request = next(self._numbers)
        answer: asyncio.Future[PromptMade] = asyncio.get_running_loop().create_future()
        self._answer = answer
        limit = clock.call_at(clock.now() + self._limits.recording_s, self._lose_patience)
        child.send(PromptMake(request=self._request, recording=recording))
        try:
            return await answer
        finally:
            limit.cancel()
            self._answer = None
            if not self._closed:
                self._idle = clock.call_at(clock.now() + self._limits.idle_s, self._let_go)

    async def _start(self) -> Child[FromPrompts]:
        child: Child[FromPrompts] = Child("prompts", from_prompts(), self._hear, self._gone)
        try:
            await spawn(child, "prompts", self._settings)
        except OSError as error:
            raise Internal(f"what reads recordings cannot be started: {error}") from error
        self._child, self._ready = child, False
        return child

    def _hear(self, messages: list[FromPrompts]) -> None:
        for message in messages:
            match message:
                case PromptReady(model=model):
                    self.model, self._ready = model, True
                case Fatal(message=failure):
                    self._fail(Internal(failure))
                    self._let_go()
                case PromptRefused(request=self._request, code=code, message=reason):
                    self._fail(by_code(code, reason))
                case PromptMade(request=self._request):
                    if self._answer is not None and not self._answer.done():
                        self._answer.set_result(message)
                case _:
                    pass  # an answer to one who has left

    def _gone(self) -> None:
        """It ended by itself."""
        _log.error("child_died", child="prompts", pid=self.pid)
        self._child = None
        if not self._ready:
            self._fail(Internal("what reads recordings does not start; the log says why"))
            return
        self._fail(
            BadRecording(
                "the process that read the recording broke down over it: save it in another "
                "format, wav for example, and try again"
            )
        )

    def _lose_patience(self) -> None:
        _log.error("child_hangs", child="prompts", pid=self.pid)
        self._fail(
            BadRecording(
                f"the recording could not be read within {self._limits.recording_s:g} s: save it "
                "in another format, wav for example, and try again"
            )
        )
        if self._child is not None:
            self._child.kill()
        self._let_go()

    def _fail(self, error: CosystreamError) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)

    def _rest(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _let_go(self) -> None:
        self._rest()
        child, self._child = self._child, None
        if child is not None:
            task = asyncio.get_running_loop().create_task(child.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
