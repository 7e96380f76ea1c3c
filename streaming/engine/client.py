"""The server's side of the engine: contexts over supervised processes.

Knows: which process each message goes to, and what a context's owner is told when one dies. Does
not know: sessions, sockets, pacing.
"""

from __future__ import annotations

import asyncio
import itertools
from functools import partial

import msgspec

from streaming.admission import Admission
from streaming.clock import Clock, LoopClock, Timer
from streaming.config import EngineSettings
from streaming.engine import request as requests
from streaming.engine.cloning import Asker, Cloning
from streaming.engine.desk import PromptDesk
from streaming.engine.handle import EngineContext, Lines, Sink
from streaming.engine.request import ContextRequest
from streaming.engine.supervisor import Supervisor
from streaming.engine.wire import from_engine, from_text
from streaming.errors import CosystreamError, EngineLoading, EngineRestarted, Internal
from streaming.host import MemoryGuard
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
        self._door = Admission(
            settings.slots, queue=settings.queue, queue_s=settings.queue_ms / 1000
        )
        self._memory = MemoryGuard(settings.host_reserve_mib << 20)
        self._held: dict[int, list[Message]] = {}
        """What the engine is told once the context is admitted."""
        self._door_timer: Timer | None = None
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
        if not self._door.offer(ctx, listener, self._now_s(), speaker.lane, request.instead_of):
            self._held[ctx] = []
            self._watch_door()
        worker = ctx % len(self._texts)
        asker = Asker(lambda: ctx in self._contexts, partial(self._refuse, ctx))
        to_engine = self.cloning.way(request.owner, voice, engine, partial(self._tell, ctx), asker)
        lines = Lines(self._texts[worker].send, to_engine, self._release, self._let_go, worker)
        context = self._contexts[ctx] = EngineContext(ctx, sink, lines)
        to_engine(requests.to_open(ctx, request, voice))
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

    def _tell(self, ctx: int, message: Message) -> None:
        """To the engine, or on the heap of a context that still waits for its place."""
        held = self._held.get(ctx)
        if held is None:
            self._to_engine(message)
        else:
            held.append(message)

    def _release(self, ctx: int, cancelled: bool) -> None:
        self._contexts.pop(ctx, None)
        if self._held.pop(ctx, None) is not None:
            self._let_go(ctx)
        elif cancelled:  # it holds memory until the engine says that nothing of it is under way
            self._let_in(self._door.leave(ctx, self._now_s()))
        else:
            self._let_in(self._door.finish(ctx))

    def _let_go(self, ctx: int) -> None:
        """Its listener has had it."""
        self._let_in(self._door.give_back(ctx, self._now_s()))

    def _let_in(self, admitted: list[int]) -> None:
        for ctx in admitted:
            for message in self._held.pop(ctx):
                self._to_engine(message)
        self._watch_door()

    def _watch_door(self) -> None:
        """Nobody waits longer than allowed."""
        if self._door_timer is not None:
            self._door_timer.cancel()
        due_s = self._door.next_expiry_s()
        if self._clock is not None and due_s is not None:
            self._door_timer = self._clock.call_at(due_s, self._turn_away)

    def _turn_away(self) -> None:
        for ctx, refusal in self._door.expired(self._now_s()).items():
            self._refuse(ctx, refusal)
        self._let_in(self._door.let_in())

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

    def _now_s(self) -> float:
        assert self._clock is not None, "the processes were started"
        return self._clock.now()

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
                    self._door.slots = min(self._settings.slots, slots)
                    self._up(self._engine)
                case Fatal(message=failure):
                    assert self._engine is not None, "it speaks, so it was started"
                    self._engine.give_up(failure)
                case Stats():
                    self._take_stats(message)
                case Released(ctx=ctx):
                    self._let_in(self._door.finish(ctx))
                case _:
                    if (context := self._contexts.get(message.ctx)) is not None:
                        context.deliver(message)
                    elif isinstance(message, Finished | Failed):  # as it was being cancelled
                        self._let_in(self._door.finish(message.ctx))

    def _take_stats(self, stats: Stats) -> None:
        self._door.short = self._memory.short(stats.figures)
        if self._settings.capacity:
            self._door.capacity = stats.capacity
        else:
            self._door.learn(stats, self._now_s())
        most = {lane: self._door.most(lane) for lane in stats.capacity}
        self._stats = msgspec.structs.replace(stats, capacity=most)
        self._let_in(self._door.let_in())

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
            self._door.forget_leaving()
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
