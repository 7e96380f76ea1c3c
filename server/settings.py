"""The server's settings: plain data with the defaults; ``configs/*.toml`` explains each key.

Knows: names, defaults. Does not know: where values come from (``server/config/`` reads files,
environment and flags into these).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from streaming.config import EngineSettings


@dataclass(frozen=True)
class ListenSettings:
    """Where the server listens."""

    host: str = "127.0.0.1"
    port: int = 8000
    root_path: str = ""
    """The path prefix a reverse proxy strips, for example ``/tts``."""
    backlog: int = 2048


@dataclass(frozen=True)
class Allowance:
    """What one key may use; 0 for a limit: that of all keys holds."""

    priority: int = 0
    """What its contexts have, and the most that they may ask for."""
    sessions: int = 0
    """At once, in place of ``limits.sessions_per_key``."""
    contexts: int = 0
    """At once, in all its sessions and requests together."""
    requests_per_minute: int = 0
    """In place of ``access.requests_per_minute``."""


@dataclass(frozen=True)
class ApiKey:
    """One key: whoever sends it may do everything; ``name`` stands in logs and metrics."""

    name: str
    key: str
    allowance: Allowance = Allowance()


@dataclass(frozen=True)
class AccessSettings:
    """Who may connect."""

    api_keys: tuple[ApiKey, ...] = ()
    """Empty: no key is asked for."""
    allowed_origins: tuple[str, ...] = ()
    """Web origins beside the server's own and loopback ones, or ``*`` for all."""
    token_ttl_max_s: int = 3600
    tokens_max: int = 10_000
    """Unspent tokens kept at once."""
    requests_per_minute: int = 600
    """HTTP requests that cost something (speak, tokens), for each key or client address."""


@dataclass(frozen=True)
class LimitSettings:
    """What one client may use; ``docs/protocol.md`` section 8 says what happens past each."""

    message_bytes: int = 1_048_576
    text_chars: int = 100_000
    contexts: int = 16
    sessions: int = 1000
    sessions_per_key: int = 0
    opens_per_minute: int = 600
    messages_per_s: int = 2000
    idle_s: float = 300.0
    slow_consumer_s: float = 10.0
    resume_window_s: float = 30.0
    resume_bytes: int = 4_194_304
    resume_total_bytes: int = 268_435_456
    lead_ms_max: int = 60_000
    upload_bytes: int = 16_777_216
    """A recording sent to make a voice of."""


@dataclass(frozen=True)
class AudioSettings:
    """Defaults for audio out."""

    opus_bitrate: int = 32_000
    opus_complexity: int = 5
    encoder_threads: int = 0
    """0: one for each core, at most 8."""
    lead_ms: int = 400


@dataclass(frozen=True)
class LogSettings:
    """Structured logs on standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "console", "json"] = "auto"
    """``auto``: console on a terminal, JSON elsewhere."""


@dataclass(frozen=True)
class Settings:
    """Everything the server is told."""

    listen: ListenSettings = field(default_factory=ListenSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    audio: AudioSettings = field(default_factory=AudioSettings)
    log: LogSettings = field(default_factory=LogSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    drain_s: float = 20.0
    """On SIGTERM, how long contexts that were begun may take to finish."""
