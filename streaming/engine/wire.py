"""Batches of messages as bytes: a u32 length, then a msgpack list.

Knows: framing, and that a batch may arrive in any pieces. Does not know: pipes, or what a message
means.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

import msgspec

from streaming.messages import (
    FromEngine,
    FromPrompts,
    FromText,
    Message,
    ToEngine,
    ToPrompts,
    ToText,
)

T = TypeVar("T")

MAX_BATCH_BYTES = 1 << 28
"""A longer batch is not one of ours: the stream is broken, and reading on would only grow."""

MAX_BATCH_MESSAGES = 512
"""Writers cut here, so that a reader begins on the first message before it has the last."""

_LENGTH = struct.Struct("<I")
_encoder = msgspec.msgpack.Encoder()


class BrokenStream(Exception):
    """The bytes are not batches: something else wrote to the pipe."""


def encode(batch: Sequence[Message]) -> bytes:
    """One batch, ready to be written."""
    body = _encoder.encode(batch)
    return _LENGTH.pack(len(body)) + body


def encode_all(messages: Sequence[Message]) -> Iterable[bytes]:
    """All messages, in batches of a bounded length."""
    for start in range(0, len(messages), MAX_BATCH_MESSAGES):
        yield encode(messages[start : start + MAX_BATCH_MESSAGES])


class BatchReader(Generic[T]):
    """Bytes in, in any pieces; whole batches out."""

    def __init__(self, decoder: msgspec.msgpack.Decoder[list[T]]) -> None:
        self._decoder = decoder
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[T]:
        """The messages that ``data`` completes, in order.

        Raises:
            BrokenStream: this and all that follows is not ours.
        """
        self._buffer += data
        messages: list[T] = []
        start = 0
        while (end := self._end_of_batch(start)) is not None:
            messages += self._decode(start + _LENGTH.size, end)
            start = end
        del self._buffer[:start]
        return messages

    def _end_of_batch(self, start: int) -> int | None:
        if len(self._buffer) < start + _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer, start)
        if length > MAX_BATCH_BYTES:
            raise BrokenStream(f"a batch of {length} bytes; at most {MAX_BATCH_BYTES} are written")
        end: int = start + _LENGTH.size + length
        return end if len(self._buffer) >= end else None

    def _decode(self, start: int, end: int) -> list[T]:
        try:
            with memoryview(self._buffer) as view, view[start:end] as body:
                return self._decoder.decode(body)
        except msgspec.MsgspecError as error:
            raise BrokenStream(f"a batch that is none of ours: {error}") from error


def to_engine() -> BatchReader[ToEngine]:
    """What the engine reads."""
    return BatchReader(msgspec.msgpack.Decoder(list[ToEngine]))


def from_engine() -> BatchReader[FromEngine]:
    """What the engine's client reads."""
    return BatchReader(msgspec.msgpack.Decoder(list[FromEngine]))


def to_text() -> BatchReader[ToText]:
    """What a front end reads."""
    return BatchReader(msgspec.msgpack.Decoder(list[ToText]))


def from_text() -> BatchReader[FromText]:
    """What a front end's client reads."""
    return BatchReader(msgspec.msgpack.Decoder(list[FromText]))


def to_prompts() -> BatchReader[ToPrompts]:
    """What a prompt maker reads."""
    return BatchReader(msgspec.msgpack.Decoder(list[ToPrompts]))


def from_prompts() -> BatchReader[FromPrompts]:
    """What a prompt maker's client reads."""
    return BatchReader(msgspec.msgpack.Decoder(list[FromPrompts]))
