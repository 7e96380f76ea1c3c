"""What a prompt is to the networks, and as bytes: plain numbers, no pickle.

Knows: shapes, the format. Does not know: how features are made, where they are kept.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import msgspec
import numpy as np

from streaming.audio.pcm import Float32
from streaming.cosyvoice.sizes import FRAMES_PER_TOKEN, MEL_BANDS, SPEAKER_SIZE, SPEECH_TOKENS

VERSION = 1
"""Of the format, and of how features are made: those of another version are made again."""

_FLOAT = np.dtype("<f4")


class UnreadableFeatures(ValueError):
    """The bytes are none of ours, or of another version: make the features again."""


@dataclass(frozen=True, eq=False)
class PromptFeatures:
    """A recording as LLM and flow take it: two mel frames a token."""

    tokens: tuple[int, ...]
    mel: Float32
    """``(2 * len(tokens), 80)``."""
    embedding: Float32
    """``(192,)``."""
    model: str
    """Fingerprint of the networks that made it."""

    def to_bytes(self) -> bytes:
        """Equal features give equal bytes."""
        return msgspec.msgpack.encode(
            _Stored(
                version=VERSION,
                model=self.model,
                tokens=self.tokens,
                mel=self.mel.astype(_FLOAT).tobytes(),
                embedding=self.embedding.astype(_FLOAT).tobytes(),
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> PromptFeatures:
        """What ``to_bytes`` gave.

        Raises:
            UnreadableFeatures: it did not.
        """
        try:
            stored = msgspec.msgpack.decode(data, type=_Stored)
        except msgspec.MsgspecError as error:
            raise UnreadableFeatures(f"no features of a prompt: {error}") from error
        if stored.version != VERSION:
            raise UnreadableFeatures(f"features of version {stored.version}, not {VERSION}")
        mel, embedding = _floats(stored.mel), _floats(stored.embedding)
        frames = FRAMES_PER_TOKEN * len(stored.tokens)
        if mel.size != frames * MEL_BANDS or embedding.size != SPEAKER_SIZE:
            raise UnreadableFeatures(
                f"{len(stored.tokens)} tokens with {mel.size} numbers of mel frames and "
                f"{embedding.size} of the speaker"
            )
        if not all(0 <= token < SPEECH_TOKENS for token in stored.tokens):
            raise UnreadableFeatures("tokens outside the codebook")
        return cls(stored.tokens, mel.reshape(frames, MEL_BANDS), embedding, stored.model)


class _Stored(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    version: int
    model: str
    tokens: tuple[int, ...]
    mel: bytes
    embedding: bytes


def digest(wav: bytes, model: str) -> str:
    """What features of that recording by those networks are known by, in hex."""
    sha = hashlib.sha256(f"prompt {VERSION} {model}\n".encode())
    sha.update(wav)
    return sha.hexdigest()


def _floats(data: bytes) -> Float32:
    if len(data) % _FLOAT.itemsize:
        raise UnreadableFeatures(f"{len(data)} bytes are no whole number of floats")
    numbers = np.frombuffer(data, _FLOAT).astype(np.float32)
    if not np.isfinite(numbers).all():
        raise UnreadableFeatures("features that are no numbers")
    return numbers
