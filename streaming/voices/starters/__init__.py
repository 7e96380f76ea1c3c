"""Voices to begin with: recordings of our own, for models that have no voice of their own.

Knows: the list beside it and its recordings. Does not know: how a voice is made of one, which of
them a server offers.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Starter:
    """A recording and what is said in it."""

    id: str
    name: str
    language: str
    """BCP 47 primary tag of the recording; the voice is not bound to it."""
    description: str
    transcript: str
    licence: str
    made_with: str
    """Which bundled voice spoke it."""

    @property
    def path(self) -> Path:
        """The recording: flac, mono, 24 kHz, as clean as a stored voice's."""
        return FOLDER / f"{self.id}.flac"

    def recording(self) -> bytes:
        """The file, as somebody would send it."""
        return self.path.read_bytes()


@cache
def starters() -> tuple[Starter, ...]:
    """All of them, the default first."""
    listed = tomllib.loads((FOLDER / "starters.toml").read_text(encoding="utf-8"))
    return tuple(Starter(**entry) for entry in listed["starter"])
