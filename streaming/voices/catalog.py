"""Finding a voice by id, and whether it speaks a language; says what there is where it does not.

Knows: the voices an engine announced. Does not know: how a voice is made or stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from streaming.errors import UnknownVoice, UnsupportedLanguage
from streaming.languages import primary
from streaming.messages import Voice

ANY_LANGUAGE = "*"

NAMED = 20
"""An error names so many voices; an owner may have made hundreds."""

_ADDED_BY = {
    "zh": "; `make setup-mandarin`, or `.venv/bin/pip install -e '.[mandarin]'`, adds one (a "
    "preview); then start the server again"
}
"""The command that adds a voice, by language."""


def find(voices: Sequence[Voice], wanted: str) -> Voice:
    """The voice of that id.

    Raises:
        UnknownVoice: there is none; the message lists those there are.
    """
    for voice in voices:
        if voice.id == wanted:
            return voice
    names = ", ".join(voice.id for voice in voices[:NAMED])
    if len(voices) > NAMED:
        names += f" and {len(voices) - NAMED} more"
    raise UnknownVoice(f"no voice {wanted!r} here; there are: {names}")


def speaks(voice: Voice, language: str) -> bool:
    """Whether the voice can speak that BCP 47 tag; ``auto`` and empty say nothing against it."""
    tag = primary(language)
    if tag in {"auto", ""} or ANY_LANGUAGE in voice.languages:
        return True
    return tag in voice.languages


def require_language(voices: Sequence[Voice], voice: Voice, language: str) -> None:
    """Do nothing if the voice speaks it.

    Raises:
        UnsupportedLanguage: the message says what can, here or at all.
    """
    if not speaks(voice, language):
        raise cannot_speak(voices, voice, f"language {language!r}", language)


def cannot_speak(
    voices: Sequence[Voice], voice: Voice, what: str, language: str
) -> UnsupportedLanguage:
    """The error of a voice that cannot speak ``what``, naming those that could."""
    able = [other.id for other in voices if language and speaks(other, language)]
    here = f"voices that can: {', '.join(able)}" if able else "no voice of this server can"
    adds = "" if able else _ADDED_BY.get(primary(language), "")
    return UnsupportedLanguage(
        f"voice {voice.id!r} speaks {', '.join(voice.languages)} and cannot speak {what}; "
        f"{here}{adds}. "
        "docs/voices.md lists which voices speak which language and the command that adds each"
    )


def meant(voices: Sequence[Voice], default: str, wanted: str | None, language: str) -> str:
    """The id asked for; where none was, the default, or the first that speaks the language."""
    if wanted is not None or _fits(voices, default, language):
        return default if wanted is None else wanted
    return next((other.id for other in voices if speaks(other, language)), default)


def _fits(voices: Sequence[Voice], name: str, language: str) -> bool:
    """Whether the voice of that id is there and speaks the language."""
    return any(voice.id == name and speaks(voice, language) for voice in voices)
