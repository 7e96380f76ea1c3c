"""A session: its contexts one after another on one play clock, over the connections it has had.

It is driven by three things and waits for none: requests of the client, events of the engine,
and timers. Whatever happens, ``_pump`` then sends what is due.

Knows: the order of contexts, pacing, sequence numbers, the resume ring, parking. Does not know:
JSON or headers (an ``Adapter`` encodes), uvicorn (a ``Wire`` takes bytes), how speech is made.
"""

from __future__ import annotations

import functools
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import structlog
from msgspec import UNSET

from server import requests
from server.access import Identity
from server.context import Context, ms_of
from server.encoding import EncoderPool
from server.events import (
    Cancelled,
    Done,
    Event,
    GoingAway,
    Levels,
    Opened,
    Queued,
    Warn,
    error_event,
)
from server.metrics import Metrics
from server.output import LEVEL_STEP_MS, Audible, Item, LevelsAt, Output
from server.pacing import PlayClock
from server.ring import ResumeRing, RingBudget, Sent
from server.settings import Settings
from streaming.audio.format import AudioFormat
from streaming.audio.packetizer import Packet
from streaming.clock import Clock, Timer
from streaming.engine.client import ContextRequest, EngineClient
from streaming.errors import (
    ContextExists,
    ContextGone,
    CosystreamError,
    GoingAway as GoingAwayError,
    IdleTimeout,
    NotAllowed,
    RateLimited,
    SlowConsumer,
    TextTooLong,
    TooManyContexts,
    UnknownContext,
    by_code,
)
from streaming.messages import ContextEvent, Failed, Finished

log = structlog.get_logger(__name__)

RESUME_AUDIO_S = 30.0
ENDED_IDS_KEPT = 256
MAX_BUFFERED_BYTES = 1_048_576
"""Answers to a client that sends and never reads; past this it is a slow consumer."""
PACING_SLOP_S = 0.001


class Link(Protocol):
    """What a session sends by; ``server.transport.Wire`` is one."""

    on_writable: Callable[[bool], None] | None

    @property
    def can_write(self) -> bool:
        """Whether the peer takes data."""
        ...

    @property
    def buffered_bytes(self) -> int:
        """Bytes that wait for the peer."""
        ...

    def write_text(self, data: bytes) -> None:
        """Send a text message."""

    def write_binary(self, data: bytes) -> None:
        """Send a binary message."""

    def close(self, code: int, reason: str) -> None:
        """Close behind what was written."""

    def abort(self, code: int, reason: str) -> None:
        """Drop the connection."""


class Adapter(Protocol):
    """How one wire protocol writes what a session says."""

    def event(self, event: Event) -> bytes:
        """An event as a text message."""
        ...

    def packet(self, packet: Packet, sid: int, seq: int) -> bytes:
        """A packet as a binary message."""
        ...

    def resent(self, data: bytes) -> bytes:
        """A binary message that is sent again."""
        ...

    def close_code(self, error: CosystreamError) -> int:
        """The close code for an error that ends the connection."""
        ...


@dataclass(frozen=True)
class Services:
    """What every session uses and none owns."""

    engine: EngineClient
    pool: EncoderPool
    clock: Clock
    metrics: Metrics
    settings: Settings
    budget: RingBudget
    rate: Callable[[str], float]
    """Takes one ``open`` for that session; seconds to wait, 0 when it may go on."""


class Session:
    """Contexts in, messages out; see the module."""

    def __init__(
        self,
        services: Services,
        identity: Identity,
        audio: AudioFormat,
        lead_ms: int | None,
        adapter: Adapter,
        *,
        metadata: dict[str, Any] | None = None,
        on_closed: Callable[[Session], None],
    ) -> None:
        self.id = f"s-{secrets.token_hex(8)}"
        self.resume_token = secrets.token_urlsafe(24)
        self.identity = identity
        self.audio = audio
        self.lead_ms = lead_ms
        self.closed = False
        self.draining = False
        self._s = services
        self._adapter = adapter
        self._metadata = metadata
        self._on_closed = on_closed
        self._contexts: dict[str, Context] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._implicit_count = 0
        self._last_sid = 0
        self._characters = 0
        self._clock = PlayClock(lead_ms)
        limits = services.settings.limits
        self._ring = ResumeRing(RESUME_AUDIO_S, limits.resume_bytes, services.budget)
        self._seq = 0
        self._link: Link | None = None
        self._pump_timer: Timer | None = None
        self._slow_timer: Timer | None = None
        self._end_timer: Timer | None = None
        self._active_s = services.clock.now()
        self._stalled_bytes = 0
        self._pumping = False
        self.log = log.bind(session=self.id, client=identity.name, metadata=metadata)

    # --- the connection it has ------------------------------------------------------------

    @property
    def connected(self) -> bool:
        """Whether a connection serves it now."""
        return self._link is not None

    @property
    def active(self) -> int:
        """Contexts that have not ended."""
        return len(self._contexts)

    def attach(self, link: Link) -> None:
        """Speak over this connection from now on."""
        self._link = link
        link.on_writable = self._on_writable
        self._stop(self._end_timer)
        self._end_timer = None
        self._touch()
        self._watch_idle()

    def resume(self, link: Link, last_seq: int) -> None:
        """Go on over a new connection: send again what the client has not seen."""
        now = self._s.clock.now()
        self.attach(link)
        self._clock.resume(now)
        for sent in self._ring.after(last_seq):
            if sent.binary:
                link.write_binary(self._adapter.resent(sent.data))
            else:
                link.write_text(sent.data)
        for context in self._contexts.values():
            context.engine.unpark()
        self._pump()

    def can_resume_after(self, seq: int) -> bool:
        """Whether nothing after ``seq`` has been forgotten."""
        return self._ring.can_resume_after(seq)

    def describe_contexts(self) -> list[dict[str, Any]]:
        """For ``ready`` after a resume."""
        return [
            {
                "ctx": context.id,
                "sid": context.sid,
                "state": "speaking" if context.begun else "waiting",
                "text_seq": context.text_seq,
            }
            for context in self._contexts.values()
        ]

    def lost(self) -> None:
        """The connection is gone without a close frame: park, and wait for the client."""
        if self.closed or self._link is None:
            return
        self._detach()
        self._clock.pause(self._s.clock.now())
        for context in self._contexts.values():
            context.engine.park()
        window_s = self._s.settings.limits.resume_window_s
        self._end_timer = self._s.clock.call_at(
            self._s.clock.now() + window_s, functools.partial(self.close, "resume window over")
        )
        self.log.info("session parked", contexts=self.active)

    def taken_over(self, error: CosystreamError) -> None:
        """A newer connection goes on with the session: this one ends, the session does not."""
        link = self._link
        self._detach()
        if link is not None:
            link.write_text(self._adapter.event(error_event(error, fatal=True)))
            link.close(self._adapter.close_code(error), error.code)

    def close(self, why: str) -> None:
        """End the session and all its work. Any number of times."""
        if self.closed:
            return
        self.closed = True
        self._detach()
        self._stop(self._end_timer)
        for context in list(self._contexts.values()):
            self._drop(context, "closed")
        self._ring.clear()
        self._on_closed(self)
        self.log.info("session closed", why=why)

    def fail(self, error: CosystreamError) -> None:
        """Tell the client why, close the connection, end the session."""
        link = self._link
        self.send_unsequenced(error_event(error, fatal=True))
        self._s.metrics.error(error.code)
        self.close(error.code)
        if link is not None:
            link.close(self._adapter.close_code(error), error.code)

    def drain(self, deadline_s: float) -> None:
        """Take no new contexts; those begun may finish until ``deadline_s`` from now."""
        self.draining = True
        self.send_unsequenced(GoingAway(deadline_ms=int(deadline_s * 1000)))

    def finish_drain(self) -> None:
        """The drain is over: close with 1001."""
        link = self._link
        self.close("drained")
        if link is not None:
            link.close(1001, "the server is going away")

    def _detach(self) -> None:
        if self._link is not None:
            self._link.on_writable = None
        self._link = None
        for timer in (self._pump_timer, self._slow_timer, self._end_timer):
            self._stop(timer)
        self._pump_timer = self._slow_timer = self._end_timer = None

    # --- requests ---------------------------------------------------------------------------

    def handle(self, request: requests.Request) -> None:
        """Carry out one request.

        Raises:
            CosystreamError: it was refused, and nothing of it was done.
        """
        self._touch()
        if isinstance(request, requests.Text):
            self._text(request)
        elif isinstance(request, requests.Open):
            self.open(request)
        elif isinstance(request, requests.Flush):
            self._find(request.ctx, "flush").flush(request.id)
        elif isinstance(request, requests.End):
            self._find(request.ctx, "end").end()
        elif isinstance(request, requests.Cancel):
            self._cancel(request)
        elif isinstance(request, requests.Played):
            self._played(request)

    def open(self, request: requests.Open, *, implicit: bool = False) -> Context:
        """Begin a context.

        Raises:
            CosystreamError: it was refused; nothing was begun and nothing cancelled.
        """
        name = request.ctx or self._implicit_id()
        self._may_open(name, request)
        asked = self._request_for_engine(request)
        ignored = self._s.engine.check(asked)
        for context in list(self._contexts.values()):
            if request.when == "interrupt" or (request.when == "replace" and not context.begun):
                self._cancel_one(context, None)
        context = self._begin(name, request, asked, implicit=implicit or request.ctx is None)
        for option, message in ignored:
            self._send(Warn(code="option_ignored", message=message, option=option, ctx=name))
        self._tell_positions()
        return context

    def _may_open(self, name: str, request: requests.Open) -> None:
        limits = self._s.settings.limits
        if self.draining:
            raise GoingAwayError("the server is going away; open it on another")
        if name in self._contexts:
            raise ContextExists(
                f"context {name!r} is still active; end or cancel it first, or use another id"
            )
        if len(self._contexts) >= limits.contexts and request.when != "interrupt":
            raise TooManyContexts(
                f"{len(self._contexts)} contexts are active and the limit is {limits.contexts}; "
                "wait for one to end"
            )
        allowed = self.identity.voices
        voice = request.voice or self._default_voice()
        if allowed is not None and voice not in allowed:
            raise NotAllowed(f"this token does not cover voice {voice!r}; it covers {_list(allowed)}")
        wait_s = self._s.rate(self.id)
        if wait_s > 0:
            raise RateLimited(
                f"more than {limits.opens_per_minute} contexts a minute",
                retry_after_ms=int(wait_s * 1000) + 1,
            )

    def _begin(
        self, name: str, request: requests.Open, asked: ContextRequest, *, implicit: bool
    ) -> Context:
        context: Context | None = None

        def from_engine(event: ContextEvent) -> None:
            assert context is not None  # the engine calls from the event loop, after `open`
            context.on_engine(event)
            self._pump()

        engine = self._s.engine.open(asked, from_engine)
        output = Output(
            self.audio, self._s.pool, levels=request.levels, on_ready=self._pump
        )
        context = Context(
            id=name,
            sid=self._next_sid(),
            voice=request.voice or self._default_voice(),
            request=request,
            engine=engine,
            output=output,
            now=self._s.clock.now,
            implicit=implicit,
        )
        self._contexts[name] = context
        self._ended.pop(name, None)
        self._s.metrics.context_opened()
        self._send(Opened(ctx=name, sid=context.sid, voice=context.voice))
        self.log.info("context opened", ctx=name, voice=context.voice)
        return context

    def _request_for_engine(self, request: requests.Open) -> ContextRequest:
        return ContextRequest(
            voice=request.voice,
            language=request.language,
            speed=request.speed,
            seed=request.seed,
            instruct=request.instruct,
            words=True,
            text_mode=request.text_mode,
            max_delay_ms=request.max_delay_ms,
            priority=request.priority,
            start_in_ms=0 if request.when == "interrupt" else self._ms_to_be_heard(),
        )

    def _text(self, request: requests.Text) -> None:
        context = self._current() if request.ctx is None else self._find(request.ctx, "text")
        chars = len(request.delta)
        limit = self._s.settings.limits.text_chars
        so_far = context.transcript.chars if context else 0
        if so_far + chars > limit:
            raise TextTooLong(
                f"{so_far} characters so far and {chars} more pass the limit of {limit} a context; "
                "end this one and open another"
            )
        allowed = self.identity.max_characters
        if allowed is not None and self._characters + chars > allowed:
            raise NotAllowed(
                f"this token covers {allowed} characters, {self._characters} are used; "
                "ask for another token"
            )
        if context is None:
            context = self.open(requests.Open(), implicit=True)
        if context.append(request.delta, request.seq):
            self._characters += chars
            self._s.metrics.characters(chars)

    def _cancel(self, request: requests.Cancel) -> None:
        if request.ctx not in {None, "*"}:
            context = self._contexts.get(request.ctx or "")
            targets = [context] if context else []
        else:
            targets = list(self._contexts.values())
        if not targets:
            name = UNSET if request.ctx in {None, "*"} else request.ctx or UNSET
            self._send(
                Warn(code="not_active", message="there is nothing active to cancel", ctx=name)
            )
        # The last one first: cancelling the one that speaks would let the next begin.
        for context in reversed(targets):
            self._cancel_one(context, request.played_ms if context.begun else None)
        self._tell_positions()
        self._pump()

    def _cancel_one(self, context: Context, played_ms: float | None) -> None:
        now = self._s.clock.now()
        source = "clock"
        if played_ms is not None and context.starts_48k is not None:
            self._clock.on_report(context.starts_48k + _to_48k(played_ms, context), now)
        if played_ms is not None or self._clock.reported(now):
            source = "client"
        heard = context.heard_samples(self._clock.position(now))
        spoken, remaining = context.transcript.split(heard)
        self._clock.forget_unheard(context.sent_48k - heard * 2)
        self._drop(context, "cancelled")
        self._send(
            Cancelled(
                ctx=context.id,
                audio_sent_ms=context.sent_48k // 48,
                played_ms=ms_of(heard),
                text_spoken=spoken,
                text_remaining=remaining,
                source="client" if source == "client" else "clock",
            )
        )

    def _played(self, request: requests.Played) -> None:
        context = self._head() if request.ctx is None else self._contexts.get(request.ctx)
        if context is None or context.starts_48k is None:
            return  # it ended while the report was on its way, or has no audio to have heard
        now = self._s.clock.now()
        asked = int(min(request.pts_ms, 1e9) * 48)
        honest = self._clock.on_report(context.starts_48k + min(asked, context.sent_48k), now)
        if asked > context.sent_48k or not honest:
            self._send(
                Warn(
                    code="played_clamped",
                    message=f"played {request.pts_ms:g} ms, but only "
                    f"{context.sent_48k // 48} ms were sent",
                    ctx=context.id,
                )
            )
        self._pump()

    # --- finding contexts -------------------------------------------------------------------

    def _find(self, name: str | None, what: str) -> Context:
        if name is None:
            context = self._current()
            if context is None:
                raise UnknownContext(f"{what} without ctx, and no context is open for it")
            return context
        found = self._contexts.get(name)
        if found is not None:
            return found
        if name in self._ended:
            raise ContextGone(f"context {name!r} has ended; open it again to say more")
        raise UnknownContext(f"no context {name!r} in this session; send open first")

    def _current(self) -> Context | None:
        """The latest implicit context that still takes text."""
        open_ones = (c for c in reversed(self._contexts.values()) if c.implicit and not c.ended)
        return next(open_ones, None)

    def _head(self) -> Context | None:
        return next(iter(self._contexts.values()), None)

    def _implicit_id(self) -> str:
        while True:
            self._implicit_count += 1
            name = f"auto-{self._implicit_count}"
            if name not in self._contexts:
                return name

    def _next_sid(self) -> int:
        taken = {context.sid for context in self._contexts.values()}
        while True:
            self._last_sid = self._last_sid % 65_535 + 1
            if self._last_sid not in taken:
                return self._last_sid

    def _default_voice(self) -> str:
        info = self._s.engine.info
        return info.default_voice if info else ""

    def _ms_to_be_heard(self) -> int:
        """How long the audio that is known to come before a new context will play."""
        if not self._contexts:
            return 0
        now = self._s.clock.now()
        return max(0, self._clock.sent - self._clock.position(now)) // 48

    def _tell_positions(self) -> None:
        for position, context in enumerate(self._contexts.values()):
            before, context.position = context.position, position
            if position != before and (position or before):
                self._send(Queued(ctx=context.id, position=position))

    # --- out --------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Send what is due, and set a timer for what will be."""
        if self._pumping or self.closed:
            return
        self._pumping = True
        try:
            self._send_due()
        finally:
            self._pumping = False

    def _send_due(self) -> None:
        self._stop(self._pump_timer)
        self._pump_timer = None
        while self._link is not None and self._link.can_write:
            context = self._head()
            if context is None:
                return
            now = self._s.clock.now()
            due_s = self._clock.due_s(now)
            item = context.output.peek(due_s)
            if item is None:
                return
            if isinstance(item, Packet) and due_s > now + PACING_SLOP_S:
                self._pump_timer = self._s.clock.call_at(due_s, self._pump)
                return
            context.output.pop()
            self._send_item(context, item, now)

    def _send_item(self, context: Context, item: Item, now: float) -> None:
        if isinstance(item, Packet):
            self._send_packet(context, item, now)
        elif isinstance(item, Event):
            self._send(item)
        elif isinstance(item, LevelsAt):
            self._send(
                Levels(
                    ctx=context.id,
                    pts_ms=item.pts_ms,
                    step_ms=LEVEL_STEP_MS,
                    values=item.values,
                )
            )
        elif isinstance(item, Audible):
            context.timer.audible(item.samples)
        elif isinstance(item, Finished):
            self._finished(context, item)
        elif isinstance(item, Failed):
            self._failed(context, item)

    def _send_packet(self, context: Context, packet: Packet, now: float) -> None:
        assert self._link is not None
        if context.starts_48k is None:
            context.starts_48k = self._clock.sent
            context.timer.packet(now)
        self._seq += 1
        context.last_seq = self._seq
        data = self._adapter.packet(packet, context.sid, self._seq)
        self._ring.add(Sent(self._seq, data, binary=True, samples_48k=packet.duration_48k))
        self._link.write_binary(data)
        self._clock.on_sent(packet.duration_48k, now)
        context.sent_48k += packet.duration_48k
        context.tell_engine(self._clock.position(now))
        self._s.metrics.packet(len(packet.payload), packet.duration_48k / 48_000)

    def _send(self, event: Event) -> None:
        """Send an event with the next number, and keep it for a resume."""
        self._seq += 1
        data = self._adapter.event(_numbered(event, self._seq))
        self._ring.add(Sent(self._seq, data, binary=False))
        self._write_event(data)

    def send_unsequenced(self, event: Event) -> None:
        """Send an event that a resume need not repeat."""
        self._write_event(self._adapter.event(event))

    def refuse(self, error: CosystreamError, ctx: str | None = None) -> None:
        """Tell that a request was refused; everything else goes on."""
        self._s.metrics.error(error.code)
        event = error_event(error, ctx=ctx)
        if ctx is None:
            self.send_unsequenced(event)
        else:
            self._send(event)

    def _write_event(self, data: bytes) -> None:
        if self._link is None:
            return
        self._link.write_text(data)
        if self._link.buffered_bytes > MAX_BUFFERED_BYTES:
            self._too_slow(f"{self._link.buffered_bytes} bytes wait unread")

    def _finished(self, context: Context, finished: Finished) -> None:
        audio_s = finished.samples / 24_000
        timer = context.timer
        self._s.metrics.context_done(
            first_packet_ms=timer.first_packet_ms,
            ttfa_ms=timer.ttfa_ms,
            rtf=finished.compute_s / audio_s if audio_s else None,
        )
        done = Done(
            ctx=context.id,
            reason="completed",
            audio_ms=ms_of(finished.samples),
            samples=finished.samples,
            first_packet_ms=timer.first_packet_ms,
            first_delta_to_packet_ms=timer.first_delta_to_packet_ms,
            ttfa_ms=timer.ttfa_ms,
            rtf=round(finished.compute_s / audio_s, 4) if audio_s else None,
            last_seq=context.last_seq,
            metadata=UNSET if self._metadata is None else self._metadata,
        )
        self._drop(context, "done")
        self._send(done)
        self._tell_positions()
        self.log.info(
            "context done",
            ctx=context.id,
            audio_ms=done.audio_ms,
            first_packet_ms=done.first_packet_ms,
            rtf=done.rtf,
        )

    def _failed(self, context: Context, failed: Failed) -> None:
        error = by_code(failed.code, failed.message)
        self._drop(context, "error")
        self._s.metrics.error(error.code)
        self._send(error_event(error, ctx=context.id, fatal=True))
        self._tell_positions()
        self.log.warning("context failed", ctx=context.id, code=error.code, message=error.message)

    def _drop(self, context: Context, outcome: str) -> None:
        """The context has ended: nothing of it stays but its id."""
        self._contexts.pop(context.id, None)
        self._ended[context.id] = None
        while len(self._ended) > ENDED_IDS_KEPT:
            self._ended.popitem(last=False)
        context.close()
        self._s.metrics.context_ended(outcome)

    # --- time -------------------------------------------------------------------------------

    def _touch(self) -> None:
        self._active_s = self._s.clock.now()

    def _watch_idle(self) -> None:
        idle_s = self._s.settings.limits.idle_s
        if self._contexts:
            self._touch()
        if self._s.clock.now() - self._active_s >= idle_s:
            self.fail(IdleTimeout(f"nothing was asked for {idle_s:g} s; connect again when needed"))
            return
        self._end_timer = self._s.clock.call_at(self._active_s + idle_s, self._watch_idle)

    def _on_writable(self, writable: bool) -> None:  # noqa: FBT001 - the wire's callback
        self._stop(self._slow_timer)
        self._slow_timer = None
        if writable:
            self._pump()
        elif self._link is not None:
            self._stalled_bytes = self._link.buffered_bytes
            self._watch_stall()

    def _watch_stall(self) -> None:
        wait_s = self._s.settings.limits.slow_consumer_s

        def check() -> None:
            if self._link is None or self._link.can_write:
                return
            if self._link.buffered_bytes < self._stalled_bytes:
                self._stalled_bytes = self._link.buffered_bytes
                self._watch_stall()
                return
            self._too_slow(f"the socket took no data for {wait_s:g} s")

        self._slow_timer = self._s.clock.call_at(self._s.clock.now() + wait_s, check)

    def _too_slow(self, why: str) -> None:
        link = self._link
        error = SlowConsumer(f"{why}; read faster or ask for a smaller codec")
        self._s.metrics.error(error.code)
        self.close(error.code)
        if link is not None:
            link.abort(self._adapter.close_code(error), error.code)

    @staticmethod
    def _stop(timer: Timer | None) -> None:
        if timer is not None:
            timer.cancel()


def _numbered(event: Event, seq: int) -> Event:
    import msgspec  # noqa: PLC0415

    return msgspec.structs.replace(event, seq=seq)


def _to_48k(played_ms: float, context: Context) -> int:
    return min(int(min(played_ms, 1e9) * 48), context.sent_48k)


def _list(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))


def active_of(sessions: Iterator[Session]) -> int:
    """Contexts active over all those sessions."""
    return sum(session.active for session in sessions)
