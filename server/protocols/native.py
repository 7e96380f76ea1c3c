"""The native protocol, without I/O: text to requests, events and packets to bytes.

Knows: ``docs/protocol.md``. Does not know: sockets, sessions, time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from server import requests
from server.events import Event, Warn
from server.hot_fix import HotFix
from server.invalid import DEPTH_MAX, convert, not_json, show, too_deep
from streaming.audio.packetizer import Packet
from streaming.errors import BadJson, UnknownType
from streaming.segment import LexiconEntry

SUBPROTOCOL = "cosystream.v1"
VERSION = 1
TOKEN_SUBPROTOCOL = "token."  # noqa: S105 - a prefix, no secret

FLAG_FIRST, FLAG_LAST, FLAG_DISCONTINUITY, FLAG_SILENCE, FLAG_RESUMED = 1, 2, 4, 8, 16
HEADER = struct.Struct(">BBHIQ")
_VERSION_AND_KIND = VERSION << 4 | 1
_XIAOZHI2 = struct.Struct(">HHIII")
_XIAOZHI3 = struct.Struct(">BBH")

_UNKNOWN_TOLD = 16
_FIELD_CHARS = 128
_CTX_CHARS = 128
"""Bounds on what a message full of nonsense is answered with."""

_KINDS: Mapping[str, type[requests.Request]] = MappingProxyType(
    {str(kind.__struct_config__.tag): kind for kind in requests.Request.__subclasses__()}
)


def decode(raw: str | bytes) -> dict[str, Any]:
    """One message of the client.

    Raises:
        BadJson: not JSON, no object, or nested too deep.
    """
    try:
        message = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        why = not_json(raw, fault)
        raise BadJson(f"not JSON: {why}; send one JSON object a message") from fault
    if too_deep(message):
        raise BadJson(f"nested more than {DEPTH_MAX} deep; nothing here needs that")
    if not isinstance(message, dict):
        raise BadJson(f"expected a JSON object with a type, got {show(message)}")
    return message


def ctx_of(message: dict[str, Any]) -> str | None:
    """The one context that it speaks of, as it should be written in a refusal of it."""
    ctx = message.get("ctx")
    named = isinstance(ctx, str) and ctx != "*" and 0 < len(ctx) <= _CTX_CHARS
    return ctx if named else None


def request_of(message: dict[str, Any]) -> tuple[requests.Request, list[Warn]]:
    """What it asks for, and a warning for each field that is not known.

    Raises:
        UnknownType: ``type`` is missing or none of ours.
        InvalidValue: a field is missing, of the wrong type or out of range.
    """
    kind = _KINDS.get(message.get("type", "")) if isinstance(message.get("type"), str) else None
    if kind is None:
        raise UnknownType(
            f"unknown type {show(message.get('type'))}; known: {', '.join(sorted(_KINDS))}"
        )
    return convert(message, kind), _unknown_fields(message, kind)


def encode_event(event: Event) -> bytes:
    """A JSON text message."""
    return msgspec.json.encode(event)


Framing = Callable[[Packet, int, int], bytes]
"""(packet, sid, seq) to the binary message that carries it."""


def framing(name: str) -> Framing:
    """How packets are framed; ``name`` as in ``hello.audio.framing``."""
    return _FRAMINGS[name]


def mark_resumed(data: bytes, framing_name: str) -> bytes:
    """A binary message that is sent again says so, where its framing can."""
    if framing_name != "header":
        return data
    return data[:1] + bytes([data[1] | FLAG_RESUMED]) + data[2:]


def _header(packet: Packet, sid: int, seq: int) -> bytes:
    flags = (
        (FLAG_FIRST if packet.first else 0)
        | (FLAG_LAST if packet.last else 0)
        | (FLAG_SILENCE if packet.silence else 0)
    )
    head = HEADER.pack(_VERSION_AND_KIND, flags, sid, seq & 0xFFFFFFFF, packet.pts_48k)
    return head + packet.payload


def _bare(packet: Packet, _sid: int, _seq: int) -> bytes:
    return packet.payload


def _xiaozhi2(packet: Packet, _sid: int, _seq: int) -> bytes:
    at_ms = packet.pts_48k // 48 & 0xFFFFFFFF
    return _XIAOZHI2.pack(2, 0, 0, at_ms, len(packet.payload)) + packet.payload


def _xiaozhi3(packet: Packet, _sid: int, _seq: int) -> bytes:
    return _XIAOZHI3.pack(0, 0, len(packet.payload)) + packet.payload


_FRAMINGS: Mapping[str, Framing] = MappingProxyType({
    "header": _header, "bare": _bare, "xiaozhi2": _xiaozhi2, "xiaozhi3": _xiaozhi3,
})  # fmt: skip


def _unknown_fields(message: dict[str, Any], kind: type[msgspec.Struct]) -> list[Warn]:
    known = {*kind.__struct_fields__, "type"}
    names = [name for name in message if name not in known]
    for part, shape, inner in _nested(message):
        if part in known:
            names += [f"{part}.{name}" for name in inner if name not in shape.__struct_fields__]
    warnings = [
        Warn(
            code="unknown_field",
            message=f"unknown field {show(name)} is ignored",
            field=name[:_FIELD_CHARS],
        )
        for name in names[:_UNKNOWN_TOLD]
    ]
    if more := len(names) - len(warnings):
        warnings.append(
            Warn(code="unknown_field", message=f"{more} more unknown fields are ignored")
        )
    return warnings


_NESTED: Mapping[str, type[msgspec.Struct]] = MappingProxyType(
    {
        "audio": requests.AudioRequest,
        "pacing": requests.PacingRequest,
        "resume": requests.ResumeRequest,
        "lexicon": HotFix,
    }
)


def _nested(
    message: dict[str, Any],
) -> Iterator[tuple[str, type[msgspec.Struct], dict[str, Any]]]:
    """Each object in the message with its place and its shape."""
    for part, shape in _NESTED.items():
        if isinstance(inner := message.get(part), dict):
            yield part, shape, inner
    if isinstance(entries := message.get("lexicon"), list):
        for entry in entries:
            yield "lexicon", LexiconEntry, entry
