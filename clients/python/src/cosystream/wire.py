"""Bytes and JSON to values and back: the shape of the native protocol (docs/protocol.md).

Knows: field names and the 16-byte header. Does not know: sockets, order, what was sent before.
Unknown types and fields are passed over, so a newer server can be spoken to.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Mapping
from typing import Any, TypeVar

from cosystream import events
from cosystream.errors import ProtocolViolation

SUBPROTOCOL = "cosystream.v1"

_HEADER = struct.Struct(">BBHIQ")
_AUDIO_V1 = 0x11

Fields = Mapping[str, Any]

_KINDS: dict[str, type[Any]] = {
    "opened": events.Opened,
    "queued": events.Queued,
    "segment": events.SegmentEvent,
    "levels": events.Levels,
    "flushed": events.Flushed,
    "warning": events.WarningEvent,
    "going_away": events.GoingAway,
    "cancelled": events.Cancelled,
    "done": events.Done,
}

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class AudioMessage:
    """A binary message taken apart; ``sid`` still has to be looked up."""

    flags: int
    sid: int
    seq: int
    pts_samples_48k: int
    payload: bytes


def encode(message: Fields) -> str:
    """One JSON text message. Raises ValueError for NaN, which JSON does not have."""
    return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def decode_audio(message: bytes) -> AudioMessage:
    """Take the header off. Raises ProtocolViolation for another version, kind or length."""
    if len(message) < _HEADER.size or message[0] != _AUDIO_V1:
        raise ProtocolViolation(
            f"a binary message begins with {message[:2].hex() or 'nothing'}, not with a version 1"
            " audio header: is something between client and server changing messages?"
        )
    _, flags, sid, seq, pts = _HEADER.unpack_from(message)
    return AudioMessage(flags, sid, seq, pts, message[_HEADER.size :])


def decode_text(message: str) -> Fields:
    """One JSON object with a ``type``. Raises ProtocolViolation for anything else."""
    try:
        fields = json.loads(message)
    except ValueError as wrong:
        raise ProtocolViolation(f"not JSON ({wrong}): {message[:80]!r}") from wrong
    if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
        raise ProtocolViolation(f"not a JSON object with a type: {message[:80]!r}")
    if not isinstance(fields.get("seq", 0), int):
        raise ProtocolViolation(f"a seq that is no whole number: {fields['seq']!r}")
    return fields


def event_of(fields: Fields) -> Any | None:
    """The typed event of a message, or None where this client has no use for its type."""
    if fields["type"] == "words":
        items = tuple(_build(events.Word, item) for item in fields.get("items", ()))
        return _build(events.Words, {**fields, "items": items})
    kind = _KINDS.get(fields["type"])
    if kind is None:
        return None
    if kind is events.Levels:
        fields = {**fields, "values": tuple(fields.get("values", ()))}
    return _build(kind, fields)


def ready_of(fields: Fields) -> events.Ready:
    """The typed ``ready``."""
    contexts = fields.get("contexts", ())
    try:
        flat = {
            **fields,
            "audio": _build(events.AudioFormat, fields["audio"]),
            "lead_ms": fields.get("pacing", {}).get("lead_ms"),
            "resumed": bool(fields.get("resumed")),
            "text_seqs": {entry["ctx"]: entry.get("text_seq") or 0 for entry in contexts},
            "sids": {entry["ctx"]: entry["sid"] for entry in contexts},
        }
    except (KeyError, TypeError, AttributeError) as wrong:
        raise ProtocolViolation(f"ready: {wrong!r}") from wrong
    return _build(events.Ready, flat)


def voices_of(body: Fields) -> list[events.Voice]:
    """The voices of ``GET /v1/voices``."""
    return [voice_of(voice, body.get("default")) for voice in body.get("voices", ())]


def voice_of(voice: Fields, default: str | None = None) -> events.Voice:
    """One of them, or the answer of ``POST /v1/voices``."""
    return _build(
        events.Voice,
        {
            **voice,
            "languages": tuple(voice.get("languages", ())),
            "preview": bool(voice.get("preview")),
            "default": default is not None and voice.get("id") == default,
            "warnings": tuple(voice.get("warnings", ())),
        },
    )


def _build(kind: type[T], fields: Fields) -> T:
    names = kind.__dataclass_fields__  # type: ignore[attr-defined]  # all kinds are dataclasses
    known = {name: value for name, value in fields.items() if name in names}
    try:
        return kind(**known)
    except TypeError as wrong:  # a field without default is missing
        raise ProtocolViolation(f"{fields.get('type', kind.__name__)}: {wrong}") from wrong
