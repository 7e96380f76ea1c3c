"""What a listener asked for: codec, rate, packet length and the encoder's options.

Knows: which values are allowed, and what follows from them by arithmetic. Does not know: how
anything is encoded, or which message the values came in.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal, get_args

from streaming.audio.opus import FRAMES_MS, lookahead_48k
from streaming.errors import InvalidValue
from streaming.samples import PTS_RATE

Codec = Literal["opus", "pcm_s16le", "mulaw", "alaw"]


RATES = (8_000, 16_000, 24_000, 48_000)
BITRATES = range(6_000, 256_001)
COMPLEXITIES = range(11)


@dataclass(frozen=True)
class AudioFormat:
    """How a session's packets are encoded.

    ``bitrate``, ``fec``, ``dtx`` and ``complexity`` concern Opus alone.

    Raises:
        InvalidValue: naming the field, its value and what is allowed.
    """

    codec: Codec
    rate: int
    frame_ms: int
    bitrate: int = 32_000
    fec: bool = False
    dtx: bool = False
    complexity: int = 5

    def __post_init__(self) -> None:
        _check("codec", self.codec, str, get_args(Codec))
        _check("rate", self.rate, int, RATES)
        _check("frame_ms", self.frame_ms, int, FRAMES_MS)
        _check("bitrate", self.bitrate, int, BITRATES)
        _check("fec", self.fec, bool, (False, True))
        _check("dtx", self.dtx, bool, (False, True))
        _check("complexity", self.complexity, int, COMPLEXITIES)

    @property
    def packet_48k(self) -> int:
        """Length of one packet in timestamp samples."""
        return PTS_RATE * self.frame_ms // 1000

    @property
    def pre_skip_48k(self) -> int:
        """What a decoder of Opus has to drop from the start, in 48 kHz samples; else 0."""
        return lookahead_48k() if self.codec == "opus" else 0


def _check(field: str, value: object, kind: type, allowed: Container[object]) -> None:
    # A bool is an int and 20.0 == 20 to Python, but neither is what the protocol says.
    if type(value) is not kind or value not in allowed:
        raise InvalidValue(f"audio.{field} is {value!r}; allowed: {_spell(allowed)}")


def _spell(allowed: Container[object]) -> str:
    if isinstance(allowed, range):
        return f"{allowed.start} to {allowed.stop - 1}"
    assert isinstance(allowed, tuple)
    return ", ".join(map(str, allowed))
