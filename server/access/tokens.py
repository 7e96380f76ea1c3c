"""Tokens: what a page holds in place of a key. Short-lived, for one session, kept as hashes alone.

A token is minted, then *spent* by the session that it opens: that one may present it again, to
resume, and nobody else may. When the session is over, what it spent is *released*. A request that
nothing resumes *uses up* its token at once.

Knows: tokens and their bounds. Does not know: keys, headers, sessions.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass, replace

from server.access.identity import Identity
from server.access.origins import parse
from streaming.clock import Clock
from streaming.errors import InvalidValue, NotAllowed, RateLimited, Unauthorized

PREFIX = "cst_"
"""What every token begins with, so that logs and secret scanners can know one when they see it."""

_USED = "The token has been used: each opens one session. Get a new one."
_RANDOM_BYTES = 32
_VOICES_MAX = 1_000
_VOICE_CHARS_MAX = 128


@dataclass(frozen=True)
class _Token:
    identity: Identity
    origin: str | None
    expires_s: float
    holder: str | None = None
    """What it was spent on; None while it is unspent."""


class Tokens:
    """The tokens there are, at most ``tokens_max`` of them unspent."""

    def __init__(self, tokens_max: int, ttl_max_s: int, clock: Clock) -> None:
        self._tokens_max = tokens_max
        self._ttl_max_s = ttl_max_s
        self._clock = clock
        self._unspent: dict[str, _Token] = {}
        self._spent: dict[str, _Token] = {}
        self._held: dict[str, set[str]] = {}

    def __len__(self) -> int:
        return len(self._unspent) + len(self._spent)

    def mint(
        self,
        identity: Identity,
        ttl_s: int,
        origin: str | None = None,
        voices: Collection[str] | None = None,
        max_characters: int | None = None,
    ) -> tuple[str, int]:
        """A new token and in how many seconds it expires.

        Raises NotAllowed for who came with a token, InvalidValue, and RateLimited while
        ``tokens_max`` are out.
        """
        if identity.token_id is not None:
            raise NotAllowed("A token cannot make tokens: use a key.")
        self._check(ttl_s, voices, max_characters)
        bound_to = _checked_origin(origin)
        self._make_room()
        token = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        token_id = _hash(token)
        bounds = replace(
            identity,
            voices=None if voices is None else frozenset(voices),
            max_characters=max_characters,
            token_id=token_id,
        )
        self._unspent[token_id] = _Token(bounds, bound_to, self._clock.now() + ttl_s)
        return token, ttl_s

    def find(self, token: str, origin: str | None, *, resuming: bool = False) -> Identity | None:
        """What a token stands for; None where it was never made or is long gone.

        A spent one is answered only while ``resuming``. Raises Unauthorized.
        """
        token_id = _hash(token)
        known = self._unspent.get(token_id) or self._spent.get(token_id)
        if known is None:
            return None
        if known.holder is not None and not resuming:
            raise Unauthorized(_USED)
        if known.holder is None and self._expired(known):
            del self._unspent[token_id]
            raise Unauthorized("The token has expired. Get a new one.")
        if known.origin is not None and known.origin != _normal(origin):
            raise Unauthorized(f"The token is for pages from {known.origin} alone.")
        return known.identity

    def spend(self, token_id: str, holder: str) -> None:
        """The token now belongs to ``holder``. Raises Unauthorized where it is another's."""
        if spent := self._spent.get(token_id):
            if spent.holder != holder:
                raise Unauthorized(_USED)
            return
        self._spent[token_id] = replace(self._take(token_id), holder=holder)
        self._held.setdefault(holder, set()).add(token_id)

    def use_up(self, token_id: str) -> None:
        """The token served its one purpose. Raises Unauthorized where it already had."""
        if token_id in self._spent:
            raise Unauthorized(_USED)
        self._take(token_id)

    def release(self, holder: str) -> None:
        """``holder`` is over: what it spent is of no use to anybody any more."""
        for token_id in self._held.pop(holder, ()):
            del self._spent[token_id]

    def _take(self, token_id: str) -> _Token:
        unspent = self._unspent.pop(token_id, None)
        if unspent is None or self._expired(unspent):
            raise Unauthorized("The token has expired or been used. Get a new one.")
        return unspent

    def _check(
        self, ttl_s: int, voices: Collection[str] | None, max_characters: int | None
    ) -> None:
        if not 1 <= ttl_s <= self._ttl_max_s:
            raise InvalidValue(f"ttl_s is {ttl_s}; allowed: 1 to {self._ttl_max_s}.")
        if max_characters is not None and max_characters < 1:
            raise InvalidValue(f"max_characters is {max_characters}; allowed: 1 or more.")
        if voices is None:
            return
        if not 1 <= len(voices) <= _VOICES_MAX:
            raise InvalidValue(f"voices has {len(voices)} ids; allowed: 1 to {_VOICES_MAX}.")
        if any(not 1 <= len(voice) <= _VOICE_CHARS_MAX for voice in voices):
            raise InvalidValue(f"voices: an id has 1 to {_VOICE_CHARS_MAX} characters.")

    def _make_room(self) -> None:
        if len(self._unspent) < self._tokens_max:
            return
        now_s = self._clock.now()
        self._unspent = {k: token for k, token in self._unspent.items() if token.expires_s > now_s}
        if len(self._unspent) >= self._tokens_max:
            first_s = min(token.expires_s for token in self._unspent.values())
            wait_ms = int((first_s - now_s) * 1000) + 1
            raise RateLimited(
                f"{self._tokens_max} tokens are out and unused: wait {wait_ms} ms.",
                retry_after_ms=wait_ms,
            )

    def _expired(self, token: _Token) -> bool:
        return self._clock.now() >= token.expires_s


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _normal(origin: str | None) -> str | None:
    return None if origin is None else str(parse(origin) or origin)


def _checked_origin(origin: str | None) -> str | None:
    if origin is not None and origin != "null" and parse(origin) is None:
        raise InvalidValue(f"origin is {origin[:200]!r}; allowed: like https://example.com.")
    return _normal(origin)
