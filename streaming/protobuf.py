"""Protocol buffers: a message's fields, read and written.

Knows: the encoding. Does not know: what any field means.
"""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}


def fields(message: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """Each field's number, its content, and the whole of it as it stands in the message.

    Raises:
        ValueError: it is no such message.
    """
    position = 0
    while position < len(message):
        start = position
        key, position = _read_varint(message, position)
        kind = key & 7
        if kind == _VARINT:
            begin = position
            _, position = _read_varint(message, position)
        elif kind == _BYTES:
            length, begin = _read_varint(message, position)
            position = begin + length
        elif kind in _FIXED_BYTES:
            begin = position
            position += _FIXED_BYTES[kind]
        else:
            raise ValueError(f"it has a field of the kind {kind}")
        yield key >> 3, message[begin:position], message[start:position]


def number(field: int, value: int) -> bytes:
    """A field that holds a whole number, not negative."""
    return _varint(field << 3 | _VARINT) + _varint(value)


def content(field: int, value: bytes) -> bytes:
    """A field that holds bytes, a text or a message."""
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def _read_varint(message: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(message):
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, position
    raise ValueError("it ends in the middle of a number")


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; a set top bit says that more follow."""
    written = bytearray()
    while value >= 0x80:  # noqa: PLR2004 - seven bits
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
