"""A session: what a client has with the server, over the connections it has had.

It is driven by requests, engine events and timers, and waits for none of them.

Knows: attaching, parking, resuming, draining, idling, the end. Does not know: JSON or headers (an
adapter writes), what a request does to the contexts, how speech is made.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import structlog

from server import requests
from server.contexts import Contexts
from server.events import Event, GoingAway, error_event
from server.outbox import Adapter, Link, Outbox
from server.services import Services, Terms
from streaming import errors
from streaming.clock import Timer
from streaming.errors import CosystreamError, IdleTimeout, SlowConsumer

log = structlog.get_logger(__name__)


class Session:
    """One client's contexts, and the connection of the moment."""

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
        self.log = log.bind(session=self.id, client=terms.identity.name, metadata=terms.metadata)
        self._s = services
        self._on_closed = on_closed
        self._outbox = Outbox(
            adapter,
            services.settings.limits,
            services.budget,
            services.clock,
            on_writable=self._writable,
            on_slow=self._too_slow,
        )
        self._contexts = Contexts(services, terms, self._outbox, self.id, self.log)
        self._end_timer: Timer | None = None
        self._drained_s: float | None = None
        self._active_s = services.clock.now()

    # --- requests ---------------------------------------------------------------------------

    def handle(self, request: requests.Request) -> None:
        """Carry out one request.

        Raises:
            CosystreamError: it was refused, and nothing of it was done.
        """
        self._active_s = self._s.clock.now()
        self._contexts.handle(request)

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
        return len(self._contexts)

    def is_linked(self, link: Link) -> bool:
        """Whether it is this connection that serves it now."""
        return self._outbox.link is link

    def attach(self, link: Link) -> None:
        """Speak over this connection from now on."""
        self._stop_timer()
        self._outbox.attach(link)
        self._active_s = self._s.clock.now()
        self._watch_idle()

    def resume(self, link: Link, last_seq: int) -> None:
        """Go on over a new connection: send again what the client has not seen."""
        self.attach(link)
        self._outbox.resend_after(last_seq)
        self._tell_drain()
        self._contexts.unpark()

    def can_resume_after(self, seq: int) -> bool:
        """Whether nothing after ``seq`` has been forgotten."""
        return self._outbox.can_resend_after(seq)

    def describe_contexts(self) -> list[dict[str, Any]]:
        """For ``ready`` after a resume."""
        return self._contexts.describe()

    def lost(self) -> None:
        """The connection is gone without a close frame: park, and wait for the client."""
        if self.closed or not self.connected:
            return
        self._detach()
        self._contexts.park()
        until_s = self._s.clock.now() + self._s.settings.limits.resume_window_s
        self._end_timer = self._s.clock.call_at(until_s, self._give_up)
        self.log.info("session parked", contexts=self.active)

    def _give_up(self) -> None:
        self.close("resume window over")

    def taken_over(self, error: CosystreamError) -> None:
        """A newer connection goes on with the session: this one ends, the session does not."""
        self._outbox.unsequenced(error_event(error, fatal=True))
        link = self._detach()
        self._contexts.park()
        if link is None:
            return
        code = self._outbox.adapter.close_code(error)
        if link.can_write:
            link.close(code, error.code)
        else:
            link.abort(code, error.code)  # a close would wait behind all that it does not take

    def close(self, why: str) -> Link | None:
        """End the session and all its work, any number of times; the connection it had."""
        if self.closed:
            return None
        self.closed = True
        link = self._detach()
        self._contexts.close()
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
        self._contexts.draining = True
        self._drained_s = self._s.clock.now() + deadline_s
        self._tell_drain()

    def _tell_drain(self) -> None:
        if self._drained_s is not None:
            left_s = max(0.0, self._drained_s - self._s.clock.now())
            self._outbox.unsequenced(GoingAway(deadline_ms=int(left_s * 1000)))

    def finish_drain(self) -> None:
        """The drain is over: what was not finished has failed; close with 1001."""
        if self.connected:
            self._contexts.give_up(errors.GoingAway("the server ended before this was finished"))
        link = self.close("drained")
        if link is not None:
            link.close(1001, "the server is going away")

    def _detach(self) -> Link | None:
        self._contexts.stop_sending()
        self._stop_timer()
        return self._outbox.detach()

    def _stop_timer(self) -> None:
        if self._end_timer is not None:
            self._end_timer.cancel()
            self._end_timer = None

    def _writable(self) -> None:
        self._contexts.pump()

    def _too_slow(self, error: SlowConsumer) -> None:
        """The socket takes nothing: neither a message nor a close would get through it."""
        self._s.metrics.error(error.code)
        link = self.close(error.code)
        if link is not None:
            link.abort(self._outbox.adapter.close_code(error), error.code)

    def _watch_idle(self) -> None:
        """A context that waits for text for so long does not hold its place for ever either."""
        idle_s, now_s = self._s.settings.limits.idle_s, self._s.clock.now()
        self._active_s = max(self._active_s, self._contexts.active_s(now_s))
        if now_s - self._active_s >= idle_s:
            self.fail(IdleTimeout(f"nothing was asked for {idle_s:g} s; connect again when needed"))
            return
        self._end_timer = self._s.clock.call_at(self._active_s + idle_s, self._watch_idle)
