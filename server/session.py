"""A session: its contexts one after another on one play clock, over the connections it has had.

It is driven by three things and waits for none: requests of the client, events of the engine,
and timers. Whatever happens, ``_pump`` then sends what is due.

Knows: what a request does, pacing, parking, the end. Does not know: JSON or headers, sequence
numbers (the outbox keeps them), how speech is made.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog
from msgspec import UNSET

from server import requests
from server.access import Access, Identity
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
from server.lineup import Lineup
from server.metrics import Metrics, Outcome
from server.outbox import Adapter, Link, Outbox
from server.output import LEVEL_STEP_MS, Audible, Item, LevelsAt, Output
from server.pacing import PTS_RATE, PlayClock
from server.ring import RingBudget
from server.settings import Settings
from streaming import errors
from streaming.audio.format import AudioFormat
from streaming.audio.packetizer import Packet
from streaming.clock import Clock, Timer
from streaming.engine.client import ContextRequest, EngineClient
from streaming.errors import CosystreamError, by_code
from streaming.messages import SAMPLE_RATE, ContextEvent, Failed, Finished

log = structlog.get_logger(__name__)

PACING_SLOP_S = 0.001
"""A packet due within a millisecond goes now: a timer for it would come later than that."""

LONGEST_MS = 1e9


@dataclass(frozen=True)
class Services:
    """What every session uses and none owns."""

    engine: EngineClient
    pool: EncoderPool
    clock: Clock
    metrics: Metrics
    settings: Settings
    budget: RingBudget
    access: Access


@dataclass(frozen=True)
class Terms:
    """What the client and the server agreed on when the session began."""

    identity: Identity
    audio: AudioFormat
    lead_ms: int | None
    metadata: dict[str, Any] | None = None


class Session:
    """Contexts in, messages out; see the module."""

    def __init__(
        self,
        services: Services,
        terms: Terms,
        adapter: Adapter,
        on_closed: Callable[[Session], None],
    ) -> None:
        self.id = f"s-{secrets.token_hex(8)}"
        self.resume_token = secrets.token_urlsafe(24)
        self.terms = terms
        self.closed = False
        self.draining = False
        self._s = services
        self._on_closed = on_closed
        self._lineup = Lineup()
        self._play = PlayClock(terms.lead_ms)
        self._characters = 0
        self._outbox = Outbox(
            adapter,
            services.settings.limits,
            services.budget,
            services.clock,
            on_writable=self._pump,
            on_slow=self._too_slow,
        )
        self._pump_timer: Timer | None = None
        self._end_timer: Timer | None = None
        self._pumping = False
        self._active_s = services.clock.now()
        self.log = log.bind(session=self.id, client=terms.identity.name, metadata=terms.metadata)

    # --- the connection it has ------------------------------------------------------------

    @property
    def connected(self) -> bool:
        """Whether a connection serves it now."""
        return self._outbox.link is not None

    @property
    def framing(self) -> str:
        """How packets are framed."""
        return self._outbox.adapter.framing

    @property
    def active(self) -> int:
        """Contexts that have not ended."""
        return len(self._lineup)

    def is_linked(self, link: Link) -> bool:
        """Whether it is this connection that serves it now."""
        return self._outbox.link is link

    def attach(self, link: Link) -> None:
        """Speak over this connection from now on."""
        self._outbox.attach(link)
        self._active_s = self._s.clock.now()
        self._watch_idle()

    def resume(self, link: Link, last_seq: int) -> None:
        """Go on over a new connection: send again what the client has not seen."""
        self.attach(link)
        self._play.resume(self._s.clock.now())
        self._outbox.resend_after(last_seq)
        for context in self._lineup:
            context.engine.unpark()
        self._pump()

    def can_resume_after(self, seq: int) -> bool:
        """Whether nothing after ``seq`` has been forgotten."""
        return self._outbox.can_resend_after(seq)

    def describe_contexts(self) -> list[dict[str, Any]]:
        """For ``ready`` after a resume."""
        return [
            {
                "ctx": context.id,
                "sid": context.sid,
                "state": "speaking" if context.begun else "waiting",
                "text_seq": context.text_seq,
            }
            for context in self._lineup
        ]

    def lost(self) -> None:
        """The connection is gone without a close frame: park, and wait for the client."""
        if self.closed or not self.connected:
            return
        self._detach()
        now = self._s.clock.now()
        self._play.pause(now)
        for context in self._lineup:
            context.engine.park()
        until_s = now + self._s.settings.limits.resume_window_s
        self._end_timer = self._s.clock.call_at(until_s, self._give_up)
        self.log.info("session parked", contexts=self.active)

    def _give_up(self) -> None:
        self.close("resume window over")

    def taken_over(self, error: CosystreamError) -> None:
        """A newer connection goes on with the session: this one ends, the session does not."""
        self._outbox.unsequenced(error_event(error, fatal=True))
        link = self._detach()
        self._play.pause(self._s.clock.now())
        if link is not None:
            link.close(self._outbox.adapter.close_code(error), error.code)

    def close(self, why: str) -> Link | None:
        """End the session and all its work, any number of times; the connection it had."""
        if self.closed:
            return None
        self.closed = True
        link = self._detach()
        for context in self._lineup:
            self._drop(context, "cancelled")
        self._outbox.forget()
        self._on_closed(self)
        self.log.info("session closed", why=why)
        return link

    def fail(self, error: CosystreamError) -> None:
        """Tell the client why, close the connection, end the session."""
        self._s.metrics.error(error.code)
        self._outbox.unsequenced(error_event(error, fatal=True))
        link = self.close(error.code)
        if link is not None:
            link.close(self._outbox.adapter.close_code(error), error.code)

    def drain(self, deadline_s: float) -> None:
        """Take no new contexts; those begun may finish until ``deadline_s`` from now."""
        self.draining = True
        self._outbox.unsequenced(GoingAway(deadline_ms=int(deadline_s * 1000)))

    def finish_drain(self) -> None:
        """The drain is over: close with 1001."""
        link = self.close("drained")
        if link is not None:
            link.close(1001, "the server is going away")

    def _detach(self) -> Link | None:
        for timer in (self._pump_timer, self._end_timer):
            _stop(timer)
        self._pump_timer = self._end_timer = None
        return self._outbox.detach()

    def _too_slow(self, error: errors.SlowConsumer) -> None:
        """The socket takes nothing: neither a message nor a close would get through it."""
        self._s.metrics.error(error.code)
        link = self.close(error.code)
        if link is not None:
            link.abort(self._outbox.adapter.close_code(error), error.code)

    def _watch_idle(self) -> None:
        idle_s = self._s.settings.limits.idle_s
        if self._lineup:
            self._active_s = self._s.clock.now()
        if self._s.clock.now() - self._active_s >= idle_s:
            self.fail(
                errors.IdleTimeout(f"nothing was asked for {idle_s:g} s; connect again when needed")
            )
            return
        self._end_timer = self._s.clock.call_at(self._active_s + idle_s, self._watch_idle)

    # --- requests ---------------------------------------------------------------------------

    def handle(self, request: requests.Request) -> None:
        """Carry out one request.

        Raises:
            CosystreamError: it was refused, and nothing of it was done.
        """
        self._active_s = self._s.clock.now()
        if isinstance(request, requests.Text):
            self._text(request)
        elif isinstance(request, requests.Open):
            self.open(request)
        elif isinstance(request, requests.Flush):
            self._lineup.find(request.ctx, "flush").flush(request.id)
        elif isinstance(request, requests.End):
            self._lineup.find(request.ctx, "end").end()
        elif isinstance(request, requests.Cancel):
            self._cancel(request)
        elif isinstance(request, requests.Played):
            self._played(request)

    def open(self, request: requests.Open) -> Context:
        """Begin a context.

        Raises:
            CosystreamError: it was refused; nothing was begun and nothing cancelled.
        """
        name = request.ctx or self._lineup.implicit_id()
        self._check_open(name, request)
        asked = self._ask(request)
        ignored = self._s.engine.check(asked)
        before = list(self._lineup)
        context = self._begin(name, request, asked)
        # Begun first, so that a refusal leaves what speaks untouched.
        for other in reversed(before):
            if request.when == "interrupt" or (request.when == "replace" and not other.begun):
                self._cancel_one(other, None)
        for option, message in ignored:
            self._outbox.event(
                Warn(code="option_ignored", message=message, option=option, ctx=name)
            )
        self._tell_positions()
        return context

    def _check_open(self, name: str, request: requests.Open) -> None:
        limit = self._s.settings.limits.contexts
        if self.draining:
            raise errors.GoingAway("the server is going away; open it on another")
        if name in self._lineup:
            raise errors.ContextExists(
                f"context {name!r} is still active; end or cancel it first, or use another id"
            )
        if self.active >= limit and request.when != "interrupt":
            raise errors.TooManyContexts(
                f"{self.active} contexts are active and the limit is {limit}; wait for one to end"
            )
        self.terms.identity.require_voice(self._voice(request))
        self._s.access.opens.require(self.id, "contexts opened by this session")

    def _ask(self, request: requests.Open) -> ContextRequest:
        return ContextRequest(
            voice=request.voice,
            language=request.language,
            speed=request.speed,
            seed=request.seed,
            instruct=request.instruct,
            words=True,  # for `cancelled.text_spoken`, whether the client asked for them or not
            text_mode=request.text_mode,
            max_delay_ms=request.max_delay_ms,
            priority=request.priority,
            start_in_ms=0 if request.when == "interrupt" else self._ms_before_a_new_one(),
        )

    def _begin(self, name: str, request: requests.Open, asked: ContextRequest) -> Context:
        context: Context | None = None

        def from_engine(event: ContextEvent) -> None:
            assert context is not None  # the engine calls from the event loop, later than `open`
            if isinstance(event, Failed) and event.code == errors.EngineRestarted.code:
                self._failed(context, event)  # at once: the client can ask again the sooner
            else:
                context.on_engine(event)
            self._pump()

        context = Context(
            id=name,
            sid=self._lineup.next_sid(),
            voice=self._voice(request),
            request=request,
            engine=self._s.engine.open(asked, from_engine),
            output=Output(
                self.terms.audio, self._s.pool, levels=request.levels, on_ready=self._pump
            ),
            now=self._s.clock.now,
            implicit=request.ctx is None,
        )
        self._lineup.add(context)
        self._outbox.event(Opened(ctx=name, sid=context.sid, voice=context.voice))
        self.log.info("context opened", ctx=name, voice=context.voice)
        return context

    def _text(self, request: requests.Text) -> None:
        current = self._lineup.current() if request.ctx is None else None
        context = current or (request.ctx and self._lineup.find(request.ctx, "text")) or None
        chars = len(request.delta)
        self._check_text(context.transcript.chars if context else 0, chars)
        if context is None:
            context = self.open(requests.Open())
        if context.append(request.delta, request.seq):
            self._characters += chars
            self._s.metrics.text_accepted(chars)

    def _check_text(self, so_far: int, chars: int) -> None:
        limit = self._s.settings.limits.text_chars
        if so_far + chars > limit:
            raise errors.TextTooLong(
                f"{so_far} characters so far and {chars} more pass the limit of {limit} a context; "
                "end this one and open another"
            )
        self.terms.identity.require_characters(self._characters + chars)

    def _cancel(self, request: requests.Cancel) -> None:
        everything = request.ctx in {None, "*"}
        targets = [c for c in self._lineup if everything or c.id == request.ctx]
        if not targets:
            name = UNSET if everything or request.ctx is None else request.ctx
            self._outbox.event(
                Warn(code="not_active", message="nothing active to cancel", ctx=name)
            )
        # The last one first: cancelling the one that speaks would let the next begin.
        for context in reversed(targets):
            self._cancel_one(context, request.played_ms if context.begun else None)
        self._tell_positions()
        self._pump()

    def _cancel_one(self, context: Context, played_ms: float | None) -> None:
        now = self._s.clock.now()
        if played_ms is not None and context.starts_48k is not None:
            heard_48k = min(int(min(played_ms, LONGEST_MS) * 48), context.sent_48k)
            self._play.on_report(context.starts_48k + heard_48k, now)
        told = self._play.reported(now)
        heard = context.heard_samples(self._play.position(now))
        spoken, remaining = context.transcript.split(heard)
        self._play.forget_unheard(context.sent_48k - heard * 2)
        self._drop(context, "cancelled")
        self._outbox.event(
            Cancelled(
                ctx=context.id,
                audio_sent_ms=context.sent_48k // 48,
                played_ms=ms_of(heard),
                text_spoken=spoken,
                text_remaining=remaining,
                source="client" if told else "clock",
            )
        )
        self.log.info("context cancelled", ctx=context.id, played_ms=ms_of(heard))

    def _played(self, request: requests.Played) -> None:
        head = self._lineup.head()
        context = head if request.ctx is None else self._lineup.get(request.ctx)
        if context is None or context.starts_48k is None:
            return  # it ended while the report was on its way, or has no audio to have heard
        asked_48k = int(min(request.pts_ms, LONGEST_MS) * 48)
        heard_48k = min(asked_48k, context.sent_48k)
        self._play.on_report(context.starts_48k + heard_48k, self._s.clock.now())
        if asked_48k > context.sent_48k:
            sent_ms = context.sent_48k // 48
            self._outbox.event(
                Warn(
                    code="played_clamped",
                    message=f"played {request.pts_ms:g} ms, but only {sent_ms} ms were sent",
                    ctx=context.id,
                )
            )
        self._pump()

    def _voice(self, request: requests.Open) -> str:
        info = self._s.engine.info
        default = info.default_voice if info else ""
        return default if request.voice is None else request.voice

    def _ms_before_a_new_one(self) -> int:
        """How long the audio that is known to come before a new context will play."""
        if not self._lineup:
            return 0
        unheard_48k = self._play.sent - self._play.position(self._s.clock.now())
        return max(0, unheard_48k) * 1000 // PTS_RATE

    def _tell_positions(self) -> None:
        for context in self._lineup.moved():
            self._outbox.event(Queued(ctx=context.id, position=context.position or 0))

    # --- out --------------------------------------------------------------------------------

    def tell(self, event: Event) -> None:
        """Send an event that a resume need not repeat."""
        self._outbox.unsequenced(event)

    def refuse(self, error: CosystreamError, ctx: str | None = None) -> None:
        """Tell that a request was refused; everything else goes on."""
        self._s.metrics.error(error.code)
        event = error_event(error, ctx=ctx)
        if ctx is None:
            self._outbox.unsequenced(event)
        else:
            self._outbox.event(event)

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
        _stop(self._pump_timer)
        self._pump_timer = None
        while self._outbox.can_write:
            context = self._lineup.head()
            if context is None:
                return
            now = self._s.clock.now()
            due_s = self._play.due_s(now)
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
            self._outbox.event(item)
        elif isinstance(item, LevelsAt):
            at = Levels(
                ctx=context.id, pts_ms=item.pts_ms, step_ms=LEVEL_STEP_MS, values=item.values
            )
            self._outbox.event(at)
        elif isinstance(item, Audible):
            context.timer.audible(item.samples)
        elif isinstance(item, Finished):
            self._finished(context, item)
        else:
            self._failed(context, item)

    def _send_packet(self, context: Context, packet: Packet, now: float) -> None:
        if context.starts_48k is None:
            context.starts_48k = self._play.sent
            context.timer.packet(now)
        size_bytes = self._outbox.packet(packet, context.sid)
        context.last_seq = self._outbox.seq
        late_s = self._play.on_sent(packet.duration_48k, now)
        if context.sent_48k:
            context.underrun_s = max(context.underrun_s, late_s)
        context.sent_48k += packet.duration_48k
        context.tell_engine(self._play.position(now))
        self._s.metrics.packet_sent(size_bytes, packet.duration_48k / PTS_RATE)

    def _finished(self, context: Context, finished: Finished) -> None:
        audio_s = finished.samples / SAMPLE_RATE
        rtf = round(finished.compute_s / audio_s, 4) if audio_s else None
        metadata = self.terms.metadata
        done = Done(
            ctx=context.id,
            reason="completed",
            audio_ms=ms_of(finished.samples),
            samples=finished.samples,
            first_packet_ms=context.timer.first_packet_ms,
            first_delta_to_packet_ms=context.timer.first_delta_to_packet_ms,
            ttfa_ms=context.timer.ttfa_ms,
            rtf=rtf,
            last_seq=context.last_seq,
            metadata=UNSET if metadata is None else metadata,
        )
        self._drop(context, "done")
        self._outbox.event(done)
        self._tell_positions()
        self._measure(done)

    def _measure(self, done: Done) -> None:
        metrics = self._s.metrics
        if done.first_packet_ms is not None:
            metrics.first_packet(done.first_packet_ms)
        if done.ttfa_ms is not None:
            metrics.first_sound(done.ttfa_ms)
        if done.rtf is not None:
            metrics.computed(done.rtf)
        self.log.info(
            "context done",
            ctx=done.ctx,
            audio_ms=done.audio_ms,
            first_packet_ms=done.first_packet_ms,
            rtf=done.rtf,
        )

    def _failed(self, context: Context, failed: Failed) -> None:
        error = by_code(failed.code, failed.message)
        self._drop(context, "error")
        self._s.metrics.error(error.code)
        self._outbox.event(error_event(error, ctx=context.id, fatal=True))
        self._tell_positions()
        self.log.warning("context failed", ctx=context.id, code=error.code, message=error.message)

    def _drop(self, context: Context, outcome: Outcome) -> None:
        """The context has ended: nothing of it stays but its id."""
        self._lineup.remove(context)
        context.close()
        underrun_ms = context.underrun_s * 1000 if context.begun else None
        self._s.metrics.context_ended(outcome, underrun_ms)


def _stop(timer: Timer | None) -> None:
    if timer is not None:
        timer.cancel()
