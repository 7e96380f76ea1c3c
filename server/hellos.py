"""What a hello asks for, with the server's defaults where it is silent, and how it is answered.

Knows: what a client may choose for a session. Does not know: connections, when a session begins or
goes on.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from server import requests
from server.access import Identity
from server.events import Ready
from server.protocols import native
from server.services import Terms
from server.session import Session
from server.settings import Settings
from server.version import VERSION
from streaming.audio.format import AudioFormat
from streaming.errors import InvalidValue
from streaming.messages import Ready as Engine

METADATA_BYTES = 4096
TELEPHONE_RATE = 8_000
RATE = 24_000


def require_version(hello: requests.Hello) -> None:
    """Do nothing if it is ours. Raises InvalidValue."""
    if hello.version != native.VERSION:
        raise InvalidValue(
            f"version: this server speaks version {native.VERSION}, got {hello.version}"
        )


def terms(hello: requests.Hello, identity: Identity, settings: Settings) -> Terms:
    """What holds for the session.

    Raises:
        InvalidValue: something that was asked for cannot be.
    """
    return Terms(
        identity=identity,
        audio=_audio(hello.audio, settings),
        lead_ms=_lead_ms(hello.pacing, settings),
        metadata=_metadata(hello),
    )


def answer(
    session: Session, engine: Engine | None, limits: dict[str, Any], *, resumed: bool
) -> Ready:
    """What the client is told of its session."""
    audio = session.terms.audio
    return Ready(
        session=session.id,
        resume_token=session.resume_token,
        resumed=resumed,
        protocol=native.VERSION,
        server=VERSION,
        engine=engine.runner if engine else "",
        default_voice=engine.default_voice if engine else "",
        audio={
            "codec": audio.codec,
            "rate": audio.rate,
            "channels": 1,
            "frame_ms": audio.frame_ms,
            "bitrate": audio.bitrate,
            "framing": session.framing,
            "pre_skip": audio.pre_skip_48k,
        },
        pacing={"lead_ms": session.terms.lead_ms},
        limits=limits,
        contexts=session.describe_contexts() if resumed else UNSET,
    )


def _audio(asked: requests.AudioRequest, settings: Settings) -> AudioFormat:
    telephone = asked.codec in {"mulaw", "alaw"}
    rate = (TELEPHONE_RATE if telephone else RATE) if asked.rate is UNSET else asked.rate
    return AudioFormat(
        codec=asked.codec,  # type: ignore[arg-type]  # checked, with an error of its own
        rate=rate,
        frame_ms=asked.frame_ms,
        bitrate=settings.audio.opus_bitrate if asked.bitrate is UNSET else asked.bitrate,
        fec=asked.fec,
        dtx=asked.dtx,
        complexity=settings.audio.opus_complexity,
    )


def _lead_ms(asked: requests.PacingRequest, settings: Settings) -> int | None:
    if asked.lead_ms is UNSET:
        return settings.audio.lead_ms
    most = settings.limits.lead_ms_max
    if asked.lead_ms is not None and asked.lead_ms > most:
        raise InvalidValue(f"pacing.lead_ms: 0 to {most}, or null for unpaced, got {asked.lead_ms}")
    return asked.lead_ms


def _metadata(hello: requests.Hello) -> dict[str, Any] | None:
    if hello.metadata is None:
        return None
    size = len(msgspec.json.encode(hello.metadata))
    if size > METADATA_BYTES:
        raise InvalidValue(f"metadata: at most {METADATA_BYTES} bytes of JSON, got {size}")
    return hello.metadata
