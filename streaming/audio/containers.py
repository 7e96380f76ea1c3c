"""The files that plain players understand, made while the sound is coming.

Knows: which there are. Does not know: how each is built, or HTTP.
"""

from __future__ import annotations

from typing import Literal, Protocol, get_args

from streaming.audio.mp3 import Mp3Stream
from streaming.audio.ogg_opus import OggOpusStream
from streaming.audio.wav import WavStream
from streaming.errors import InvalidValue

ContainerName = Literal["wav", "opus", "mp3"]


class Container(Protocol):
    """24 kHz 16-bit mono PCM in, the bytes of one file out."""

    @property
    def media_type(self) -> str:
        """As in ``Content-Type``."""
        ...

    def push(self, pcm: bytes) -> bytes:
        """What can be sent now; whole samples in."""
        ...

    def finish(self) -> bytes:
        """The rest."""
        ...

    def close(self) -> None:
        """Free what it holds, at any moment and any number of times."""
        ...


def open_container(name: str, *, bitrate: int = 32_000, complexity: int = 5) -> Container:
    """A fresh container; ``bitrate`` and ``complexity`` are for Opus.

    Raises:
        InvalidValue: for a name or a number that is not allowed.
    """
    match name:
        case "wav":
            return WavStream()
        case "opus":
            return OggOpusStream(bitrate=bitrate, complexity=complexity)
        case "mp3":
            return Mp3Stream()
        case _:
            allowed = ", ".join(get_args(ContainerName))
            raise InvalidValue(f"format is {name!r}; allowed: {allowed}")
