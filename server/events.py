"""What a session tells its client, as plain data; ``docs/protocol.md`` section 4.

Knows: the fields. Does not know: sequence numbers of other messages, sockets, the engine.
A field that is ``UNSET`` is left out; one that is ``None`` is told as null.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from streaming.errors import CosystreamError


class Event(msgspec.Struct, frozen=True, tag_field="type", kw_only=True):
    """Base of all; ``seq`` is the resume number, unset where the message is not sequenced."""

    seq: int | UnsetType = UNSET


class Ready(Event, frozen=True, tag="ready", kw_only=True):
    """The session stands."""

    session: str
    resume_token: str
    resumed: bool
    protocol: int
    server: str
    engine: str
    default_voice: str
    audio: dict[str, Any]
    pacing: dict[str, Any]
    limits: dict[str, Any]
    contexts: list[dict[str, Any]] | UnsetType = UNSET


class Opened(Event, frozen=True, tag="opened", kw_only=True):
    """A context was begun."""

    ctx: str
    sid: int
    voice: str


class Queued(Event, frozen=True, tag="queued", kw_only=True):
    """So many contexts speak before this one."""

    ctx: str
    position: int


class SegmentBegins(Event, frozen=True, tag="segment", kw_only=True):
    """The next packet begins this piece of the text.

    An ``index`` that was there before tells the next part of that segment, and a later packet
    begins it.
    """

    ctx: str
    index: int
    text: str
    char_start: int
    char_end: int
    pts_ms: int


class WordTime(msgspec.Struct, frozen=True, kw_only=True):
    """A word of the client's text and when it is heard."""

    text: str
    char_start: int
    char_end: int
    start_ms: int
    end_ms: int


class WordTimes(Event, frozen=True, tag="words", kw_only=True):
    """The words of a segment."""

    ctx: str
    items: list[WordTime]
    source: Literal["align", "estimate"]


class Levels(Event, frozen=True, tag="levels", kw_only=True):
    """Loudness for a mouth, a value every ``step_ms``."""

    ctx: str
    pts_ms: int
    step_ms: int
    values: list[float]


class Flushed(Event, frozen=True, tag="flushed", kw_only=True):
    """The audio of all text before that flush has been sent."""

    ctx: str
    id: str
    pts_ms: int


class Cancelled(Event, frozen=True, tag="cancelled", kw_only=True):
    """The context was stopped; no audio of it follows."""

    ctx: str
    audio_sent_ms: int
    played_ms: int
    text_spoken: str
    text_remaining: str
    source: Literal["client", "clock"]


class Done(Event, frozen=True, tag="done", kw_only=True):
    """The context has said everything."""

    ctx: str
    reason: str
    audio_ms: int
    samples: int
    first_packet_ms: float | None
    first_delta_to_packet_ms: float | None
    ttfa_ms: float | None
    rtf: float | None
    last_seq: int
    metadata: dict[str, Any] | UnsetType = UNSET


class ErrorEvent(Event, frozen=True, tag="error", kw_only=True):
    """Something was refused or has failed."""

    code: str
    message: str
    status: int
    retryable: bool
    retry_after_ms: int | None
    fatal: bool
    ctx: str | UnsetType = UNSET


class Warn(Event, frozen=True, tag="warning", kw_only=True):
    """Something was carried out otherwise than asked."""

    code: str
    message: str
    ctx: str | UnsetType = UNSET
    field: str | UnsetType = UNSET
    option: str | UnsetType = UNSET
    voice: str | UnsetType = UNSET


class GoingAway(Event, frozen=True, tag="going_away", kw_only=True):
    """The server drains."""

    deadline_ms: int


class Pong(Event, frozen=True, tag="pong", kw_only=True):
    """The answer to a ping."""

    id: Any = UNSET


def error_event(
    error: CosystreamError, *, ctx: str | None = None, fatal: bool = False
) -> ErrorEvent:
    """An error as it is told; ``fatal`` ends the context or, without one, the connection."""
    return ErrorEvent(
        code=error.code,
        message=error.message,
        status=error.status,
        retryable=error.retryable,
        retry_after_ms=error.retry_after_ms,
        fatal=fatal,
        ctx=UNSET if ctx is None else ctx,
    )
