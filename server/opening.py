"""How a context comes to be: whether it may, what the engine is asked for, whose voice it has.

Knows: a session's terms, the engine's client, limits. Does not know: what becomes of a context, the
session's play clock, connections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import structlog

from server import choosing, requests
from server.context import Context
from server.events import Opened
from server.lineup import Lineup
from server.outbox import Outbox
from server.output import Output
from server.services import Services, Terms
from streaming import errors
from streaming.engine.client import ContextRequest
from streaming.messages import ContextEvent
from streaming.samples import SAMPLE_RATE

OnEngine = Callable[[Context, ContextEvent], None]


class _Sink:
    """Where the engine's events of one context go; it calls later than ``open`` returns."""

    def __init__(self, on_engine: OnEngine, context: Context | None = None) -> None:
        self._on_engine = on_engine
        self.context = context

    def __call__(self, event: ContextEvent) -> None:
        assert self.context is not None, "the engine calls from the event loop"
        self._on_engine(self.context, event)


class Opening:
    """The contexts of one session, on their way into its line-up."""

    def __init__(
        self,
        services: Services,
        terms: Terms,
        lineup: Lineup,
        outbox: Outbox,
        session_id: str,
        log: structlog.stdlib.BoundLogger,
        on_engine: OnEngine,
        on_ready: Callable[[], None],
        before_ms: Callable[[], int],
    ) -> None:
        """``on_engine`` hears what the engine says, ``on_ready`` that something can be sent.

        ``before_ms`` tells how long what comes before a new context will play.
        """
        self._s = services
        self._terms = terms
        self._lineup = lineup
        self._outbox = outbox
        self._session_id = session_id
        self._log = log
        self._on_engine = on_engine
        self._on_ready = on_ready
        self._before_ms = before_ms

    def check(self, name: str, request: requests.Open) -> None:
        """Raise what the session's terms or its state have against it."""
        active, limit = len(self._lineup), self._s.settings.limits.contexts
        if name in self._lineup:
            raise errors.ContextExists(
                f"context {name!r} is still active; end or cancel it first, or use another id"
            )
        if active >= limit and request.when != "interrupt":
            raise errors.TooManyContexts(
                f"{active} contexts are active and the limit is {limit}; wait for one to end"
            )
        leaving = active if request.when == "interrupt" else 0
        self._s.access.contexts.require(self._terms.identity, leaving)
        self._terms.identity.require_voice(self._voice(request))
        self._s.access.opens.require(self._session_id, "contexts opened by this session")

    def ask(self, request: requests.Open, instead_of: Sequence[Context]) -> ContextRequest:
        """What the engine is asked for."""
        return ContextRequest(
            instead_of=tuple(other.engine.ctx for other in instead_of),
            owner=self._terms.identity.owner,
            voice=request.voice,
            language=request.language,
            speed=request.speed,
            seed=request.seed,
            instruct=request.instruct,
            words=True,  # for `cancelled.text_spoken`, whether the client asked for them or not
            text_mode=request.text_mode,
            max_delay_ms=request.max_delay_ms,
            priority=self._terms.identity.priority(request.priority),
            lexicon=request.entries,
            reasoning=request.reasoning,
            listener=self._session_id,
            start_in_ms=0 if request.when == "interrupt" else self._before_ms(),
        )

    def ignored(self, request: requests.Open, asked: ContextRequest) -> list[tuple[str, str]]:
        """The options that cannot be had, each with a sentence. Raises as ``begin``."""
        return [*self._s.engine.check(asked), *self._lowered(request, asked)]

    def begin(self, name: str, request: requests.Open, asked: ContextRequest) -> Context:
        """Open it in the engine and put it into the line-up.

        Raises what refuses it; then nothing was begun.
        """
        sink = _Sink(self._on_engine)
        context = sink.context = Context(
            id=name,
            sid=self._lineup.next_sid(),
            voice=self._voice(request),
            request=request,
            engine=self._s.engine.open(asked, sink),
            output=Output(
                self._terms.audio, self._s.pool, levels=request.levels, on_ready=self._on_ready
            ),
            now=self._s.clock.now,
            max_ahead_samples=int(self._s.settings.engine.max_ahead_s * SAMPLE_RATE),
            implicit=request.ctx is None,
            undecided=choosing.undecided(request.voice, request.language),
        )
        self._lineup.add(context)
        self._s.access.contexts.take(self._terms.identity)
        self._outbox.event(Opened(ctx=name, sid=context.sid, voice=context.voice))
        engine_ctx = context.engine.ctx  # the number that a trace of the engine's steps tells
        self._log.info("context opened", ctx=name, voice=context.voice, engine_ctx=engine_ctx)
        return context

    def choose(self, context: Context, delta: str) -> None:
        """Let the first letters of a context whose voice nobody named say which it is."""
        if not context.undecided or not choosing.tells(delta):
            return
        voice = choosing.other_voice(delta, self._terms.identity, self._s.engine)
        if voice is not None and not context.segments:
            self._change_voice(context, voice)
        context.undecided = False

    def _change_voice(self, context: Context, voice: str) -> None:
        """Begin anew in the engine; nothing has been heard of the context."""
        asked = self.ask(msgspec.structs.replace(context.request, voice=voice), [context])
        sink = _Sink(self._on_engine, context)
        engine = self._s.engine.open(asked, sink)  # if refused, all is as it was
        context.engine.cancel()
        context.engine = engine
        context.engine.append(context.transcript.split(0)[1])
        context.voice = voice
        self._outbox.event(choosing.chosen(context.id, voice))
        self._log.info("voice chosen", ctx=context.id, voice=voice, engine_ctx=engine.ctx)

    def _lowered(self, request: requests.Open, asked: ContextRequest) -> Iterator[tuple[str, str]]:
        """What the key does not allow, as an option that is ignored."""
        if request.priority is not None and asked.priority < request.priority:
            told = f"this key's contexts have a priority of {asked.priority} at most"
            yield "priority", f"{told}, so that is used, not {request.priority}"

    def _voice(self, request: requests.Open) -> str:
        owner = self._terms.identity.owner
        return self._s.engine.voice_of(request.voice, request.language, owner)
