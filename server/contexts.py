"""What requests do to a session's contexts.

Knows: text, cancelling, reports of what was heard. Does not know: how a context comes to be
(``opening.py``), what its end leaves behind (``endings.py``), connections, resume, JSON.
"""

from __future__ import annotations

from typing import Any

import structlog
from msgspec import UNSET

from server import requests
from server.context import Context, is_news
from server.endings import Endings
from server.events import Queued, Warn
from server.lineup import Lineup
from server.opening import Opening
from server.outbox import Outbox
from server.output import Ending
from server.pacing import PlayClock
from server.sender import Sender
from server.services import Services, Terms
from streaming import errors
from streaming.errors import CosystreamError
from streaming.messages import ContextEvent, Failed
from streaming.samples import PTS_PER_MS, PTS_RATE

LONGEST_MS = 1e9
"""More milliseconds of audio than a context can have: what a client says is cut to it first."""


class Contexts:
    """The contexts of one session, one after another on one play clock."""

    def __init__(
        self,
        services: Services,
        terms: Terms,
        outbox: Outbox,
        session_id: str,
        log: structlog.stdlib.BoundLogger,
    ) -> None:
        self.draining = False
        self._s = services
        self._terms = terms
        self._outbox = outbox
        self._characters = 0
        self._lineup = Lineup()
        self._endings = Endings(services, terms, self._lineup, outbox, log)
        self._play = PlayClock(terms.lead_ms)
        self._sender = Sender(
            self._lineup, self._play, outbox, services.clock, services.metrics, self._ended
        )
        self._opening = Opening(
            services,
            terms,
            self._lineup,
            outbox,
            session_id,
            log,
            on_engine=self.on_engine,
            on_ready=self._sender.pump,
            before_ms=self._ms_before_a_new_one,
        )

    def __len__(self) -> int:
        return len(self._lineup)

    def pump(self) -> None:
        """Send what is due."""
        self._sender.pump()

    def active_s(self, now_s: float) -> float:
        """When there was last anything to be said."""
        return self._sender.active_s(now_s)

    def stop_sending(self) -> None:
        """There is no connection to send over."""
        self._sender.stop()

    def park(self) -> None:
        """The listener is away: keep everything, compute nothing."""
        self._play.pause(self._s.clock.now())
        for context in self._lineup:
            context.engine.park()

    def unpark(self) -> None:
        """The listener is back."""
        self._play.resume(self._s.clock.now())
        for context in self._lineup:
            context.engine.unpark()
        self._sender.pump()

    def give_up(self, error: CosystreamError) -> None:
        """End all; whoever listens is told of each."""
        for context in tuple(self._lineup):
            self._endings.given_up(context, error)

    def close(self) -> None:
        """Cancel all, telling nobody."""
        for context in self._lineup:
            self._endings.drop(context, "cancelled")

    def describe(self) -> list[dict[str, Any]]:
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

    # --- requests ---------------------------------------------------------------------------

    def handle(self, request: requests.Request) -> None:
        """Carry out one request.

        Raises:
            CosystreamError: it was refused, and nothing of it was done.
        """
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
        if self.draining:
            raise errors.GoingAway("the server is going away; open it on another")
        self._opening.check(name, request)
        gives_way = [
            other
            for other in self._lineup
            if request.when == "interrupt" or (request.when == "replace" and not other.begun)
        ]
        asked = self._opening.ask(request, gives_way)
        ignored = self._opening.ignored(request, asked)
        context = self._opening.begin(name, request, asked)
        # Begun first, so that a refusal leaves what speaks untouched.
        for other in reversed(gives_way):
            self._cancel_one(other, None)
        for option, message in ignored:
            self._outbox.event(
                Warn(code="option_ignored", message=message, option=option, ctx=name)
            )
        self._tell_positions()
        return context

    def on_engine(self, context: Context, event: ContextEvent) -> None:
        """What the engine says of a context."""
        if isinstance(event, Failed) and event.code == errors.EngineRestarted.code:
            self._ended(context, event)  # at once: the client can ask again the sooner
        else:
            context.on_engine(event)
        self._sender.pump()

    def _text(self, request: requests.Text) -> None:
        if request.ctx is None:
            context = self._lineup.current()
        else:
            context = self._lineup.find(request.ctx, "text")
        if not is_news(request.seq, context.text_seq if context else 0):
            return
        chars = len(request.delta)
        self._check_text(context.transcript.chars if context else 0, chars)
        if context is None:
            context = self.open(requests.Open())
        self._opening.choose(context, request.delta)
        context.append(request.delta, request.seq)
        self._characters += chars
        self._s.metrics.text_accepted(chars)

    def _check_text(self, so_far: int, chars: int) -> None:
        limit = self._s.settings.limits.text_chars
        if so_far + chars > limit:
            raise errors.TextTooLong(
                f"{so_far} characters so far and {chars} more pass the limit of {limit} a context; "
                "end this one and open another"
            )
        self._terms.identity.require_characters(self._characters + chars)

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
        self._sender.pump()

    def _cancel_one(self, context: Context, played_ms: float | None) -> None:
        now = self._s.clock.now()
        if played_ms is not None and context.starts_48k is not None:
            self._report(context, context.starts_48k, played_ms, now)
        told = self._play.reported(now)
        heard = context.heard_samples(self._play.position(now))
        self._play.forget_unheard(context.sent_48k - heard * 2)
        self._endings.cancelled(context, heard, by_client=told)

    def _played(self, request: requests.Played) -> None:
        head = self._lineup.head()
        context = head if request.ctx is None else self._lineup.get(request.ctx)
        if context is None or context.starts_48k is None:
            return  # it ended while the report was on its way, or has no audio to have heard
        if not self._report(context, context.starts_48k, request.pts_ms, self._s.clock.now()):
            sent_ms = context.sent_48k // PTS_PER_MS
            self._outbox.event(
                Warn(
                    code="played_clamped",
                    message=f"played {request.pts_ms:g} ms, but only {sent_ms} ms were sent",
                    ctx=context.id,
                )
            )
        self._sender.pump()

    def _report(self, context: Context, starts_48k: int, played_ms: float, now_s: float) -> bool:
        """Set the play clock by what the client has heard; False: it cannot have heard so much."""
        asked_48k = int(min(played_ms, LONGEST_MS) * PTS_PER_MS)
        heard_48k = min(asked_48k, context.sent_48k)
        self._play.on_report(starts_48k + heard_48k, now_s)
        return asked_48k <= context.sent_48k

    def _ms_before_a_new_one(self) -> int:
        """How long the audio that is known to come before a new context will play."""
        if not self._lineup:
            return 0
        unheard_48k = self._play.sent - self._play.position(self._s.clock.now())
        return max(0, unheard_48k) * 1000 // PTS_RATE

    def _tell_positions(self) -> None:
        for context in self._lineup.moved():
            self._outbox.event(Queued(ctx=context.id, position=context.position or 0))

    def _ended(self, context: Context, ending: Ending) -> None:
        self._endings.tell(context, ending)
        self._tell_positions()
