"""What a context tells: frozen values, named as in docs/protocol.md section 4.

Knows: names, units, defaults. Does not know: how they look on the wire (``wire``).
``…_ms`` are milliseconds from the beginning of the context's audio; ``char_…`` count code points
from the beginning of its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Codec = Literal["opus", "pcm_s16le", "mulaw", "alaw"]

FLAG_FIRST = 1
FLAG_LAST = 2
FLAG_DISCONTINUITY = 4
FLAG_SILENCE = 8
FLAG_RESUMED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One piece of encoded audio."""

    ctx: str
    payload: bytes = field(repr=False)
    seq: int
    pts_samples_48k: int
    """Position of its first sample, at 48 kHz whatever the codec."""
    flags: int = 0

    @property
    def first(self) -> bool:
        """The first packet of its context."""
        return bool(self.flags & FLAG_FIRST)

    @property
    def last(self) -> bool:
        """The last one, where the server knew; ``Done`` follows either way."""
        return bool(self.flags & FLAG_LAST)

    @property
    def discontinuity(self) -> bool:
        """Audio before it is missing."""
        return bool(self.flags & FLAG_DISCONTINUITY)

    @property
    def silence(self) -> bool:
        """Nothing can be heard in it."""
        return bool(self.flags & FLAG_SILENCE)

    @property
    def resumed(self) -> bool:
        """It was sent again after a lost connection (and had not come before)."""
        return bool(self.flags & FLAG_RESUMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The server accepted the context."""

    ctx: str
    sid: int
    voice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """So many contexts are to be heard before it; 0 when its turn has come."""

    ctx: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentEvent:
    """The packets that follow speak this text; with an ``index`` again, they will come to it.

    A segment of interleaved text is told part by part, each before any of it is heard.
    """

    ctx: str
    index: int
    text: str
    char_start: int
    char_end: int
    pts_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of the text and when it is heard."""

    text: str
    char_start: int
    char_end: int
    start_ms: float
    end_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a segment; ``source`` says whether a model or a rule of thumb timed them."""

    ctx: str
    items: tuple[Word, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Loudness from 0 to 1, every ``step_ms`` from ``pts_ms``, of the packet that follows."""

    ctx: str
    pts_ms: float
    step_ms: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed:
    """The audio of everything before that flush has come; it ends at ``pts_ms``."""

    ctx: str
    id: str
    pts_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningEvent:
    """Something was not done as asked (an option ignored, nothing to speak)."""

    code: str
    message: str = ""
    ctx: str | None = None
    field: str | None = None
    option: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoingAway:
    """The server drains: contexts begun are finished within ``deadline_ms``."""

    deadline_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The context was cancelled; ``text_spoken + text_remaining`` is all the text it was given."""

    ctx: str
    audio_sent_ms: float
    played_ms: float
    text_spoken: str
    text_remaining: str
    source: str
    """Whose ``played_ms`` it is: ``client`` reported, ``clock`` estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Everything has been spoken and sent. Times are the server's; ``None`` without audio."""

    ctx: str
    reason: str
    audio_ms: float
    samples: int
    """Exact length at 24 kHz; the last packet may be padded beyond it."""
    first_packet_ms: float | None = None
    first_delta_to_packet_ms: float | None = None
    ttfa_ms: float | None = None
    rtf: float | None = None
    last_seq: int | None = None
    metadata: Mapping[str, Any] | None = None


ContextEvent = (
    Packet
    | Opened
    | Queued
    | SegmentEvent
    | Words
    | Levels
    | Flushed
    | WarningEvent
    | GoingAway
    | Cancelled
    | Done
)
"""What ``Context.events`` yields, in the order it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioFormat:
    """How this session's packets are encoded."""

    codec: Codec
    rate: int
    frame_ms: int
    channels: int = 1
    bitrate: int | None = None
    framing: str = "header"
    pre_skip: int = 0
    """Samples at 48 kHz to drop from the beginning of each context's decoded Opus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What the server said when the session began."""

    session: str
    resume_token: str = field(repr=False)
    resumed: bool
    audio: AudioFormat
    server: str = ""
    engine: str = ""
    default_voice: str | None = None
    lead_ms: int | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    text_seqs: Mapping[str, int] = field(default_factory=dict)
    """After a resume: each active context's last accepted delta."""
    sids: Mapping[str, int] = field(default_factory=dict)
    """After a resume: each active context's number in audio headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """A voice that ``open`` and ``say`` can be asked for by ``id``."""

    id: str
    name: str
    languages: tuple[str, ...]
    description: str = ""
    preview: bool = False
    default: bool = False
    cloned: bool = False
    """Made of a recording, with your key; what follows is known of such voices alone."""
    language: str = ""
    transcript: str = ""
    consent: str = ""
    created: str = ""
    """UTC, ISO 8601."""
    duration_ms: int | None = None
    warnings: tuple[str, ...] = ()
    """What would make it better, told when it is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A browser's one-session pass, and for how long it may be used to begin."""

    token: str = field(repr=False)
    expires_in_s: float
