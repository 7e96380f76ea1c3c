"""The server's side of the engine: contexts, each with a front end for its text and the engine.

Knows: what a message of the processes means for which context, and what a context's owner is told
when one dies. Does not know: how processes are kept running (``processes.py``), sessions, sockets,
pacing.
"""

from __future__ import annotations

import asyncio
import itertools
from functools import partial

import msgspec

from streaming.clock import Clock
from streaming.config import EngineSettings
from streaming.engine import request as requests
from streaming.engine.cloning import Asker, Cloning
from streaming.engine.desk import PromptDesk
from streaming.engine.entrance import Entrance
from streaming.engine.handle import EngineContext, Lines, Sink
from streaming.engine.processes import Heard, Processes
from streaming.engine.request import ContextRequest
from streaming.errors import CosystreamError, EngineLoading, EngineRestarted
from streaming.messages import (
    PROBE_CTX,
    Failed,
    Fatal,
    Finished,
    FromEngine,
    FromText,
    Ready,
    Released,
    Stats,
    TextEnded,
)
from streaming.voices import catalog

__all__ = ["ContextRequest", "EngineClient", "EngineContext"]

RETRY_AFTER_MS = 1000


class EngineClient:
    """One engine process, its front ends, and the contexts on them."""

    def __init__(self, settings: EngineSettings, clock: Clock | None = None) -> None:
        self._settings = settings
        heard = Heard(self._from_engine, self._from_text, self._engine_lost, self._text_lost)
        self._processes = Processes(settings, heard, clock)
        self._contexts: dict[int, EngineContext] = {}
        self._entrance = Entrance(settings, self._processes.to_engine, self._refuse, clock)
        self._numbers = itertools.count(PROBE_CTX + 1)
        self._desk = PromptDesk(settings, clock)
        self.cloning = Cloning(
            settings,
            self._desk,
            self._processes.to_engine,
            engine=lambda: self._info if self.ready else None,
        )
        """Voices made of recordings."""
        self._info: Ready | None = None
        self._stats: Stats | None = None

    # --- the processes ---------------------------------------------------------------------

    async def start(self) -> None:
        """Start the processes; they become ready later. Raises OSError where none can start."""
        await self.cloning.load()
        try:
            await self._processes.start()
        except BaseException:  # refused or cancelled: no process is left behind
            await self.close()
            raise

    async def wait_ready(self, timeout_s: float) -> None:
        """Return once speech would begin at once.

        Raises:
            EngineLoading: that was not so within the time.
            Internal: it will never be; the message says why.
        """
        await self._processes.wait_ready(timeout_s)

    async def close(self) -> None:
        """End the processes, within two seconds; contexts in flight are told nothing more."""
        await asyncio.gather(self._processes.close(), self._desk.close(), self.cloning.close())

    @property
    def ready(self) -> bool:
        """Whether a context could be opened and would speak at once."""
        return self._processes.ready

    @property
    def reason(self) -> str:
        """Why not; empty when ready."""
        return self._processes.reason

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
        return self._processes.restarts

    @property
    def engine_pid(self) -> int | None:
        """The engine's process, where there is one."""
        return self._processes.engine_pid

    @property
    def text_pids(self) -> list[int | None]:
        """The front ends' processes."""
        return self._processes.text_pids

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
        worker = ctx % self._processes.texts
        asker = Asker(lambda: ctx in self._contexts, partial(self._refuse, ctx))
        tell = partial(self._entrance.tell, ctx)
        to_engine = self.cloning.way(request.owner, voice, engine, tell, asker)
        to_text = partial(self._processes.to_text, worker)
        lines = Lines(to_text, to_engine, self._release, self._entrance.let_go, worker)
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

    def _from_engine(self, messages: list[FromEngine]) -> None:
        for message in messages:
            match message:
                case Ready(slots=slots):
                    self._info = message
                    self._entrance.engine_came(slots)
                    self._processes.engine_up()
                case Fatal(message=failure):
                    self._processes.engine_cannot(failure)
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
                self._processes.text_up(worker)
            elif (context := self._contexts.get(message.ctx)) is not None:
                context.take_text(message)

    def _engine_lost(self) -> None:
        for context in list(self._contexts.values()):
            context.deliver(_restarted(context.ctx))
        self._entrance.engine_went()

    def _text_lost(self, worker: int) -> None:
        for context in list(self._contexts.values()):
            context.lost_text(worker, _restarted(context.ctx))


def _restarted(ctx: int) -> Failed:
    return Failed(
        ctx=ctx,
        code=EngineRestarted.code,
        message="the engine died and was started again; ask again",
        retryable=EngineRestarted.retryable,
    )
