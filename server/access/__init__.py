"""Who may connect: keys, tokens, web origins, rates. Pure: headers in, an identity or error out.

Knows: what a request says of itself. Does not know: sockets, sessions, how an error travels.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection

from server.access.identity import ANONYMOUS, Identity
from server.access.origins import Origins, origin_of
from server.access.rates import RateLimiter, address_key
from server.access.shares import Shares
from server.access.tokens import PREFIX as TOKEN_PREFIX
from server.access.tokens import Tokens
from server.settings import AccessSettings, LimitSettings
from streaming.clock import Clock
from streaming.errors import Unauthorized

__all__ = [
    "ANONYMOUS",
    "TOKEN_PREFIX",
    "Access",
    "Identity",
    "RateLimiter",
    "address_key",
    "origin_of",
]

_ASK = (
    "This server asks for a key: send `Authorization: Bearer KEY`, or from a page a token that "
    "POST /v1/tokens made."
)


class Access:
    """The door: who is asking, from where, how often.

    ``opens`` and ``messages`` are the limiters of contexts opened (a session's id) and of messages
    (a connection's id); ``contexts`` counts those that each key has at once.
    """

    def __init__(self, settings: AccessSettings, limits: LimitSettings, clock: Clock) -> None:
        self._keys = tuple(
            (_digest(entry.key), Identity(entry.name, allowance=entry.allowance))
            for entry in settings.api_keys
        )
        self._origins = Origins(settings.allowed_origins)
        self._tokens = Tokens(settings.tokens_max, settings.token_ttl_max_s, clock)
        sessions = max(1, limits.sessions)
        self.requests = RateLimiter.per_minute(settings.requests_per_minute, clock)
        self._own_requests = {
            entry.name: RateLimiter.per_minute(entry.allowance.requests_per_minute, clock)
            for entry in settings.api_keys
            if entry.allowance.requests_per_minute
        }
        self.contexts = Shares()
        self.opens = RateLimiter.per_minute(limits.opens_per_minute, clock, 2 * sessions)
        self.messages = RateLimiter.per_second(limits.messages_per_s, clock, 2 * sessions)

    @property
    def asks_for_keys(self) -> bool:
        """Whether nobody gets in without a key or token."""
        return bool(self._keys)

    def identify(
        self,
        authorization: str | None,
        token: str | None,
        origin: str | None,
        host: str,
        *,
        resuming: bool = False,
    ) -> Identity:
        """Who sent these headers. Raises ForbiddenOrigin and Unauthorized.

        ``token`` is what came as a subprotocol or in the query; ``Authorization: Bearer`` may hold
        a key or a token. A token is not spent by this; while ``resuming`` a spent one will do, and
        ``spend`` tells whether it is that session's. A server without keys lets everybody in, but
        still checks a token that is presented, since it may narrow what is allowed.
        """
        self.check_origin(origin, host)
        bearer = _bearer(authorization)
        if bearer is not None and (known := self._of_key(bearer)):
            return known
        for presented in (token, bearer):
            if presented and (found := self._tokens.find(presented, origin, resuming=resuming)):
                return found
        if token:
            raise Unauthorized("The token is unknown: used up, expired, or another server's.")
        if not self._keys:
            return Identity(ANONYMOUS)
        if bearer is not None:
            raise Unauthorized("The key is none that this server knows.")
        if authorization is not None:
            raise Unauthorized(f"The Authorization header has no Bearer key. {_ASK}")
        raise Unauthorized(_ASK)

    def mint(
        self,
        identity: Identity,
        ttl_s: int,
        origin: str | None = None,
        voices: Collection[str] | None = None,
        max_characters: int | None = None,
    ) -> tuple[str, int]:
        """As ``Tokens.mint``: a token with these bounds, and in how many seconds it expires."""
        return self._tokens.mint(identity, ttl_s, origin, voices, max_characters)

    def spend(self, identity: Identity, session_id: str) -> None:
        """A session begins or resumes with this identity; nothing to do for a key.

        Raises Unauthorized where the token has opened another session, or expired since.
        """
        if identity.token_id is not None:
            self._tokens.spend(identity.token_id, session_id)

    def use_up(self, identity: Identity) -> None:
        """A request that nothing can resume is made with this identity: no other may follow.

        Raises Unauthorized where the token has been used, or expired since.
        """
        if identity.token_id is not None:
            self._tokens.use_up(identity.token_id)

    def require_request(self, identity: Identity, peer: str) -> None:
        """Pay for an HTTP request that costs something, by key, or by address where none is asked.

        Raises RateLimited where there were too many.
        """
        key = identity.name if self.asks_for_keys else address_key(peer)
        limiter = self._own_requests.get(key, self.requests)
        limiter.require(key, "requests from this client")

    def release(self, identity: Identity, session_id: str) -> None:
        """That session is over and will not be resumed: all tokens spent on it are forgotten."""
        del identity
        self._tokens.release(session_id)
        self.opens.forget(session_id)

    def check_origin(self, origin: str | None, host: str) -> None:
        """Raise ForbiddenOrigin unless this origin may use the server under this host."""
        self._origins.check(origin, host)

    def cors_headers(
        self, origin: str | None, host: str, *, preflight: bool = False
    ) -> dict[str, str]:
        """The CORS headers of an HTTP answer, ``preflight`` for that to ``OPTIONS``."""
        return self._origins.headers(origin, host, preflight=preflight)

    def _of_key(self, presented: str) -> Identity | None:
        """Whose key that is; every key is compared, in time that tells nothing of them."""
        digest = _digest(presented)
        found = None
        for known, identity in self._keys:
            if hmac.compare_digest(known, digest):
                found = identity
        return found


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _bearer(authorization: str | None) -> str | None:
    scheme, _, value = (authorization or "").strip().partition(" ")
    return value.strip() if scheme.lower() == "bearer" and value.strip() else None
