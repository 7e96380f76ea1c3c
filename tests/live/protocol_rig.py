"""What the tests of the protocol say hello with."""

from __future__ import annotations

PCM = {"audio": {"codec": "pcm_s16le"}, "pacing": {"lead_ms": None}}
FAST = {"pacing": {"lead_ms": None}}
