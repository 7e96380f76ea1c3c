"""What every session uses and none owns, and the terms on which one was begun. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from server.access import Access, Identity
from server.encoding import EncoderPool
from server.metrics import Metrics
from server.ring import RingBudget
from server.settings import Settings
from streaming.audio.format import AudioFormat
from streaming.clock import Clock
from streaming.engine.client import EngineClient


@dataclass(frozen=True)
class Services:
    """Made once by the application, handed to whoever needs them."""

    engine: EngineClient
    pool: EncoderPool
    clock: Clock
    metrics: Metrics
    settings: Settings
    budget: RingBudget
    access: Access


@dataclass(frozen=True)
class Terms:
    """What the client and the server agreed on when the session began."""

    identity: Identity
    audio: AudioFormat
    lead_ms: int | None
    metadata: dict[str, Any] | None = None
