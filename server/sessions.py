"""All sessions of a server: begun within limits, found again by their clients, ended together.

Knows: counts, limits, resume tokens. Does not know: what a session does.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from typing import Any

from server.access import Identity
from server.outbox import Adapter
from server.services import Services, Terms
from server.session import Session
from streaming.errors import GoingAway, ResumedElsewhere, ResumeUnknown, TooManySessions

DRAIN_STEP_S = 0.05
RETRY_AFTER_MS = 2000


class Sessions:
    """The registry; every session takes itself out when it closes."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.draining = False
        self.streams: set[object] = set()
        """Plain HTTP answers that are being sent: a drain waits for them too."""
        self._sessions: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def parked(self) -> int:
        """Sessions whose client is away."""
        return sum(not session.connected for session in self._sessions.values())

    @property
    def contexts(self) -> int:
        """Contexts active in all of them."""
        return sum(session.active for session in self._sessions.values())

    def begin(self, terms: Terms, adapter: Adapter) -> Session:
        """A new session.

        Raises:
            GoingAway: the server drains.
            TooManySessions: the limit is reached, the server's or the key's.
            Unauthorized: its token has opened another session.
        """
        self._check_room(terms.identity)
        session = Session(self.services, terms, adapter, self._forget)
        self.services.access.spend(terms.identity, session.id)
        self._sessions[session.id] = session
        return session

    def find(self, name: str, token: str, last_seq: int, identity: Identity) -> Session:
        """The session to go on with.

        Raises:
            ResumeUnknown: it is not here, not this client's, or no longer holds what is asked.
        """
        session = self._sessions.get(name)
        known = session is not None and hmac.compare_digest(
            session.resume_token.encode(), token.encode()
        )
        if session is None or not known or session.terms.identity.name != identity.name:
            raise ResumeUnknown(
                f"no session {name[:40]!r} with that token here: it has expired, or another server "
                "has it; a new session was begun"
            )
        self.services.access.spend(identity, session.id)
        if not session.can_resume_after(last_seq):
            if session.connected:
                session.fail(ResumedElsewhere("the client came back and begins a new session"))
            session.close("resumed too late")
            raise ResumeUnknown(
                f"the messages after {last_seq} are no longer kept; a new session was begun"
            )
        return session

    def limits_told(self, identity: Identity) -> dict[str, Any]:
        """For ``ready``: what this client may use."""
        limits, own = self.services.settings.limits, identity.allowance
        names = (
            "message_bytes", "text_chars", "contexts", "sessions", "opens_per_minute",
            "messages_per_s", "idle_s", "slow_consumer_s", "resume_window_s", "resume_bytes",
            "lead_ms_max", "upload_bytes",
        )  # fmt: skip
        told = {name: getattr(limits, name) for name in names}
        return told | {
            "contexts": min(limits.contexts, own.contexts or limits.contexts),
            "sessions_per_key": own.sessions or limits.sessions_per_key,
            "priority": identity.priority_most,
        }

    async def drain(self, deadline_s: float) -> None:
        """Let what was begun finish, within the deadline; then close every session."""
        self.draining = True
        clock = self.services.clock
        until_s = clock.now() + deadline_s
        for session in tuple(self._sessions.values()):
            session.drain(deadline_s)
        while (self._heard_contexts() or self.streams) and clock.now() < until_s:  # noqa: ASYNC110 - once in a server's life
            await asyncio.sleep(DRAIN_STEP_S)
        for session in tuple(self._sessions.values()):
            session.finish_drain()

    def _heard_contexts(self) -> int:
        """Contexts that somebody listens to."""
        return sum(session.active for session in self._sessions.values() if session.connected)

    def refuse_while_draining(self) -> None:
        """Raise GoingAway while the server drains."""
        if self.draining:
            raise GoingAway("the server is going away; connect to another")

    def _check_room(self, identity: Identity) -> None:
        limits = self.services.settings.limits
        self.refuse_while_draining()
        if len(self._sessions) >= limits.sessions:
            raise TooManySessions(
                f"{len(self._sessions)} sessions are open and the limit is {limits.sessions}; "
                "try again later",
                retry_after_ms=RETRY_AFTER_MS,
            )
        if most := identity.allowance.sessions or limits.sessions_per_key:
            mine = Counter(session.terms.identity.name for session in self._sessions.values())
            if mine[identity.name] >= most:
                raise TooManySessions(
                    f"this key has {most} sessions open, its limit; close one",
                    retry_after_ms=RETRY_AFTER_MS,
                )

    def _forget(self, session: Session) -> None:
        self._sessions.pop(session.id, None)
        self.services.access.release(session.terms.identity, session.id)
