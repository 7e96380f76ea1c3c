"""Who is asking, and what they may ask for.

Knows: the bounds a key or token carries. Does not know: how they were proved, or what is spoken.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from server.settings import Allowance
from streaming.errors import NotAllowed

ANONYMOUS = "anonymous"
"""The name of everybody, where the server asks for no key."""

PRIORITY_MOST = 10


@dataclass(frozen=True)
class Identity:
    """Whoever sent a key or token, or nobody in particular.

    ``name`` is the key's, for a token that of the key which made it. ``token_id`` is a hash that
    tells tokens apart and opens nothing; None for keys.
    """

    name: str
    voices: frozenset[str] | None = None
    """The ids of the only voices allowed; None: all."""
    max_characters: int | None = None
    """How much text a session may speak in all; None: as much as the limits allow."""
    token_id: str | None = None
    allowance: Allowance = field(default_factory=Allowance)
    """The key's; tokens share it."""

    @property
    def owner(self) -> str:
        """Whose voices these are; empty for everybody's, where the server asks for no key."""
        return "" if self.name == ANONYMOUS else self.name

    @property
    def priority_most(self) -> int:
        """The most that a context may ask for."""
        return PRIORITY_MOST if self.name == ANONYMOUS else self.allowance.priority

    def priority(self, asked: int | None) -> int:
        """A context's: the key's own, or what was asked for where that is no more."""
        return self.allowance.priority if asked is None else min(asked, self.priority_most)

    def may_use(self, voice: str) -> bool:
        """Whether nothing forbids this voice."""
        return self.voices is None or voice in self.voices

    def require_voice(self, voice: str) -> None:
        """Raise NotAllowed unless this voice may be used."""
        if not self.may_use(voice):
            allowed = ", ".join(sorted(self.voices or ()))
            raise NotAllowed(f"The token does not cover the voice {voice!r}; it covers: {allowed}.")

    def require_characters(self, total: int) -> None:
        """Raise NotAllowed if so many characters, in the whole session, are too many."""
        if self.max_characters is not None and total > self.max_characters:
            raise NotAllowed(
                f"The token covers {self.max_characters} characters; with this text it would be "
                f"{total}."
            )
