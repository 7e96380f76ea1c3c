"""Which voice a text is for, where nobody named a voice or a language.

The server's default speaks, unless the letters of the text show that it cannot and another can.
Knows: how letters tell a language, who may use which voice. Does not know: contexts, requests.
"""

from __future__ import annotations

from server.access import Identity
from server.events import Warn
from streaming.engine.client import EngineClient
from streaming.text.speakable import guess_language, scripts

ENOUGH_CHARS = 2_000
"""What a language is told by at most."""


def undecided(voice: str | None, language: str) -> bool:
    """Whether text may still choose."""
    return voice is None and language == "auto"


def tells(text: str) -> bool:
    """Whether there is a letter in it."""
    return bool(scripts(text[:ENOUGH_CHARS]))


def other_voice(text: str, identity: Identity, engine: EngineClient) -> str | None:
    """The voice that speaks this text where the default does not; None where the default is best.

    A voice that the token does not cover is never chosen.
    """
    language = guess_language(text[:ENOUGH_CHARS], "")
    default = engine.voice_of(None, "auto", identity.owner)
    best = engine.voice_of(None, language or "auto", identity.owner)
    return best if best != default and identity.may_use(best) else None


def chosen(ctx: str, voice: str) -> Warn:
    """The warning that says so."""
    return Warn(
        code="voice_chosen",
        message=f"no voice was named and the default does not speak this text; {voice!r} does",
        ctx=ctx,
        voice=voice,
    )
