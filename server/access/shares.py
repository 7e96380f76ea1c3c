"""How many contexts each key has at once, in all its sessions and requests together.

Knows: names and counts. Does not know: contexts.
"""

from __future__ import annotations

from collections import Counter

from server.access.identity import Identity
from streaming.errors import TooManyContexts


class Shares:
    """What is taken must be given back, once."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    def __getitem__(self, name: str) -> int:
        return self._held[name]

    def require(self, identity: Identity, leaving: int = 0) -> None:
        """Raise TooManyContexts unless one more may begin, ``leaving`` of the key's own ended."""
        most = identity.allowance.contexts
        held = self._held[identity.name] - leaving
        if most and held >= most:
            raise TooManyContexts(
                f"this key has {held} contexts at once and its limit is {most}; wait for one to end"
            )

    def take(self, identity: Identity) -> None:
        """One has begun."""
        self._held[identity.name] += 1

    def give_back(self, identity: Identity) -> None:
        """One has ended."""
        self._held[identity.name] -= 1
        if not self._held[identity.name]:
            del self._held[identity.name]
