"""The server's side of the engine: contexts over supervised processes.

Knows: which process each message goes to, and what a context's owner is told when one dies. Does
not know: sessions, sockets, pacing.
"""

from __future__ import annotations

import asyncio
import itertools
from functools import partial

import msgspec

from streaming.clock import Clock, LoopClock
from streaming.config import EngineSettings
from streaming.engine import request as requests
from streaming.engine.cloning import Asker, Cloning
from streaming.engine.desk import PromptDesk
from streaming.engine.entrance import Entrance
from streaming.engine.handle import EngineContext, Lines, Sink
from streaming.engine.request import ContextRequest
from streaming.engine.supervisor import Supervisor
from streaming.engine.wire import from_engine, from_text
from streaming.errors import CosystreamError, EngineLoading, EngineRestarted, Internal
from streaming.messages import (
    PROBE_CTX,
    Failed,
    Fatal,
    Finished,
    FromEngine,
    FromText,
    Message,
    Ready,
    Released,
    Stats,
    TextEnd,
    TextEnded,
)
from streaming.voices import catalog

__all__ = ["ContextRequest", "EngineClient", "EngineContext"]

RETRY_AFTER_MS = 1000


class EngineClient:
    """One engine process, its front ends, and the contexts on them."""

    def __init__(self, settings: EngineSettings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._engine: Supervisor[FromEngine] | None = None
        self._texts: list[Supervisor[FromText]] = []
        self._contexts: dict[int, EngineContext] = {}
        self._entrance = Entrance(settings, self._to_engine, self._refuse, clock)
        self._numbers = itertools.count(PROBE_CTX + 1)
        self._desk = PromptDesk(settings, clock)
        self.cloning = Cloning(
            settings,
            self._desk,
            self._to_engine,
            engine=lambda: self._info if self.ready else None,
        )
        """Voices made of recordings."""
        self._settled = asyncio.Event()
        self._info: Ready | None = None
        self._stats: Stats | None = None

    # --- the processes ---------------------------------------------------------------------

    async def start(self) -> None:
        """Start the processes; they become ready later. Raises OSError where none can start."""
        await self.cloning.load()
        clock = self._clock = self._clock or LoopClock()
        self._engine = Supervisor(
            "engine",
            self._settings,
            clock,
            reader=from_engine,
            on_messages=self._from_engine,
            on_change=self._engine_changed,
        )
        self._texts = [
            Supervisor(
                "text",
                self._settings,
                clock,
                reader=from_text,
                on_messages=partial(self._from_text, worker),
                on_change=partial(self._text_changed, worker),
                probe=TextEnd(ctx=PROBE_CTX),
            )
            for worker in range(self._settings.text.workers)
        ]
        starts = [asyncio.create_task(child.start()) for child in self._children]
        try:
            await asyncio.gather(*starts)
        except BaseException:  # refused or cancelled: no process is left behind
            await asyncio.wait(starts)
            await self.close()
            raise

    async def wait_ready(self, timeout_s: float) -> None:
        """Return once speech would begin at once.

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
        """End the processes, within two seconds; contexts in flight are told nothing more."""
        self._settled.set()
        await asyncio.gather(
            *(child.close() for child in self._children), self._desk.close(), self.cloning.close()
        )

    @property
    def ready(self) -> bool:
        """Whether a context could be opened and would speak at once."""
        return bool(self._children) and all(child.ready for child in self._children)

    @property
    def reason(self) -> str:
        """Why not; empty when ready."""
        if not self._children:
            return "not started"
        return next((child.reason for child in self._children if child.reason), "")

    @property
    def info(self) -> Ready | None:
        """What the engine can do, once it has said so."""
        return self._info

    @property
    def stats(self) -> Stats | None:
        """The engine's newest figures."""
        return self._stats

    @property
    def restarts(self) -> int:
        """How often one of the processes had to be started again."""
        return sum(child.restarts for child in self._children)

    @property
    def engine_pid(self) -> int | None:
        """The engine's process, where there is one."""
        return self._engine.pid if self._engine else None

    @property
    def text_pids(self) -> list[int | None]:
        """The front ends' processes."""
        return [child.pid for child in self._texts]

    # --- contexts --------------------------------------------------------------------------

    def seen_by(self, owner: str) -> Ready:
        """What the engine can do, with the owner's voices behind its own.

        Raises:
            EngineLoading: it has not said so yet.
        """
        if self._info is None:
            raise EngineLoading(f"the engine is {self.reason}; see /readyz")
        return self.cloning.seen_by(owner, self._info)

    def voice_of(self, wanted: str | None, language: str, owner: str = "") -> str:
        """The voice such a context would get; empty while nobody knows."""
        if self._info is None:
            return wanted or ""
        return requests.voice_of(wanted, language, self.seen_by(owner))

    def check(self, request: ContextRequest) -> list[tuple[str, str]]:
        """The options that would be ignored, each with a sentence that says so.

        Raises:
            EngineLoading, UnknownVoice, UnsupportedLanguage: it could not be opened.
        """
        self._require_ready()
        return requests.check(request, self.seen_by(request.owner))

    def open(self, request: ContextRequest, sink: Sink) -> EngineContext:
        """Begin a context; ``sink`` is called with its events in order, on this event loop.

        Raises:
            EngineLoading, UnknownVoice, UnsupportedLanguage: as ``check``.
            Overloaded: there is no room, and none in the queue.
        """
        self._require_ready()
        engine = self.seen_by(request.owner)
        requests.check(request, engine)
        ctx = next(self._numbers)
        voice = requests.voice_of(request.voice, request.language, engine)
        speaker = catalog.find(engine.voices, voice)
        listener = request.listener or str(ctx)
        self._entrance.offer(ctx, listener, speaker.lane, request.instead_of)
        worker = ctx % len(self._texts)
        asker = Asker(lambda: ctx in self._contexts, partial(self._refuse, ctx))
        tell = partial(self._entrance.tell, ctx)
        to_engine = self.cloning.way(request.owner, voice, engine, tell, asker)
        lines = Lines(
            self._texts[worker].send, to_engine, self._release, self._entrance.let_go, worker
        )
        context = self._contexts[ctx] = EngineContext(ctx, sink, lines)
        to_engine(requests.to_open(ctx, request, voice, engine))
        longest = self._settings.text.max_segment_chars
        lines.to_text(requests.to_text_open(ctx, request, speaker, engine, longest))
        return context

    def _require_ready(self) -> Ready:
        if not self.ready or self._info is None:
            raise EngineLoading(
                f"the engine is not ready: {self.reason}", retry_after_ms=RETRY_AFTER_MS
            )
        return self._info

    def _to_engine(self, message: Message) -> None:
        if self._engine is not None:
            self._engine.send(message)

    def _release(self, ctx: int, cancelled: bool) -> None:
        self._contexts.pop(ctx, None)
        self._entrance.release(ctx, cancelled=cancelled)

    def _refuse(self, ctx: int, error: CosystreamError) -> None:
        if (context := self._contexts.get(ctx)) is not None:
            context.deliver(
                Failed(
                    ctx=ctx,
                    code=error.code,
                    message=error.message,
                    retryable=error.retryable,
                    retry_after_ms=error.retry_after_ms,
                )
            )

    # --- what the processes say ------------------------------------------------------------

    @property
    def _children(self) -> list[Supervisor[FromEngine] | Supervisor[FromText]]:
        return [*([self._engine] if self._engine else []), *self._texts]

    @property
    def _failed(self) -> bool:
        """Whether it will never be ready."""
        return any(child.state in {"failed", "closed"} for child in self._children)

    def _from_engine(self, messages: list[FromEngine]) -> None:
        for message in messages:
            match message:
                case Ready(slots=slots):
                    self._info = message
                    self._entrance.engine_came(slots)
                    self._up(self._engine)
                case Fatal(message=failure):
                    assert self._engine is not None, "it speaks, so it was started"
                    self._engine.give_up(failure)
                case Stats():
                    most = self._entrance.learn(message)
                    self._stats = msgspec.structs.replace(message, capacity=most)
                case Released(ctx=ctx):
                    self._entrance.freed(ctx)
                case _:
                    if (context := self._contexts.get(message.ctx)) is not None:
                        context.deliver(message)
                    elif isinstance(message, Finished | Failed):  # as it was being cancelled
                        self._entrance.freed(message.ctx)

    def _from_text(self, worker: int, messages: list[FromText]) -> None:
        for message in messages:
            if message.ctx == PROBE_CTX and isinstance(message, TextEnded):
                self._up(self._texts[worker])
            elif (context := self._contexts.get(message.ctx)) is not None:
                context.take_text(message)

    def _up(self, child: Supervisor[FromEngine] | Supervisor[FromText] | None) -> None:
        assert child is not None, "it speaks, so it was started"
        child.came_up()

    def _engine_changed(self) -> None:
        assert self._engine is not None, "it changed, so it was made"
        if self._engine.state in {"restarting", "failed"}:
            for context in list(self._contexts.values()):
                context.deliver(_restarted(context.ctx))
            self._entrance.engine_went()
        self._review()

    def _text_changed(self, worker: int) -> None:
        if self._texts[worker].state == "restarting":
            for context in list(self._contexts.values()):
                context.lost_text(worker, _restarted(context.ctx))
        self._review()

    def _review(self) -> None:
        if self.ready or self._failed:
            self._settled.set()
        else:
            self._settled.clear()


def _restarted(ctx: int) -> Failed:
    return Failed(
        ctx=ctx,
        code=EngineRestarted.code,
        message="the engine died and was started again; ask again",
        retryable=EngineRestarted.retryable,
    )
