"""How audio is counted: integer samples, of one rate inside and of one rate in timestamps.

Knows: numbers. Does not know: the rates that listeners ask for (``streaming/audio/format.py``).
"""

from __future__ import annotations

SAMPLE_RATE = 24_000
"""Samples a second of everything inside; other rates exist only at the server's edge."""

CHUNK_SAMPLES = 1_920
"""80 ms at 24 kHz: the unit that leaves the engine. A context's first and last may be shorter."""

PTS_RATE = 48_000
"""Samples a second of packet timestamps, whatever the codec and its rate."""

PTS_PER_MS = PTS_RATE // 1000
