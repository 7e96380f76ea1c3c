"""What a client asks of a session, as plain data; each wire protocol translates to these.

Knows: fields, defaults, ranges (``docs/protocol.md`` section 3). Does not know: JSON or sockets.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from server.hot_fix import Lexicon, entries_of
from streaming.segment import LexiconEntry, Reasoning, TextMode

CtxId = Annotated[str, Meta(min_length=1, max_length=128)]
Label = Annotated[str, Meta(max_length=128)]
Seq = Annotated[int, Meta(ge=1, le=2**53)]


class Request(msgspec.Struct, frozen=True, tag_field="type", kw_only=True):
    """Base of all."""


class AudioRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How audio is to come; ``streaming.audio.format`` checks the values against each other."""

    codec: str = "opus"
    rate: int | UnsetType = UNSET
    frame_ms: int = 80
    bitrate: int | UnsetType = UNSET
    fec: bool = False
    dtx: bool = False
    framing: Literal["header", "bare", "xiaozhi2", "xiaozhi3"] = "header"


class PacingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How far packets may run ahead of the listener; ``None``: as fast as they are made."""

    lead_ms: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET


class ResumeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Go on with a session after a lost connection."""

    session: Annotated[str, Meta(max_length=128)]
    token: Annotated[str, Meta(max_length=256)]
    last_seq: Annotated[int, Meta(ge=0, le=2**32)] = 0


class Hello(Request, frozen=True, tag="hello", kw_only=True):
    """How the session is to be."""

    version: int = 1
    audio: AudioRequest = AudioRequest()
    pacing: PacingRequest = PacingRequest()
    metadata: dict[str, Any] | None = None
    traceparent: Annotated[str, Meta(max_length=256)] | None = None
    resume: ResumeRequest | None = None


class Open(Request, frozen=True, tag="open", kw_only=True):
    """Begin a context."""

    ctx: CtxId | None = None
    voice: Annotated[str, Meta(max_length=256)] | None = None
    language: Annotated[str, Meta(min_length=1, max_length=35)] = "auto"
    speed: Annotated[float, Meta(ge=0.5, le=2.0)] = 1.0
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    instruct: Annotated[str, Meta(max_length=1000)] | None = None
    timestamps: bool = False
    levels: bool = False
    text_mode: TextMode = "auto"
    max_delay_ms: Annotated[int, Meta(ge=50, le=60_000)] | None = None
    priority: Annotated[int, Meta(ge=-10, le=10)] | None = None
    when: Literal["queue", "interrupt", "replace"] = "queue"
    lexicon: Lexicon = ()
    reasoning: Reasoning = "speak"

    @property
    def entries(self) -> tuple[LexiconEntry, ...]:
        """The lexicon, in whichever form it came."""
        return entries_of(self.lexicon)


class Text(Request, frozen=True, tag="text", kw_only=True):
    """More text; ``seq`` makes sending it twice harmless."""

    delta: str
    ctx: CtxId | None = None
    seq: Seq | None = None


class Flush(Request, frozen=True, tag="flush", kw_only=True):
    """Speak what has come so far."""

    ctx: CtxId | None = None
    id: Label = ""


class End(Request, frozen=True, tag="end", kw_only=True):
    """No more text."""

    ctx: CtxId | None = None


class Cancel(Request, frozen=True, tag="cancel", kw_only=True):
    """Stop now; ``*`` or none: everything."""

    ctx: CtxId | None = None
    played_ms: Annotated[float, Meta(ge=0, le=1e12)] | None = None


class Played(Request, frozen=True, tag="played", kw_only=True):
    """How much of the context has been heard."""

    pts_ms: Annotated[float, Meta(ge=0, le=1e12)]
    ctx: CtxId | None = None


class Ping(Request, frozen=True, tag="ping", kw_only=True):
    """Are you there?"""

    id: Any = UNSET
