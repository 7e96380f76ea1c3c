"""Where the first audible sample of a piece of PCM is.

Knows: 16-bit PCM and the two G.711 laws (ITU-T G.711). Does not know: Opus; a client without a
decoder cannot look into it.
"""

from __future__ import annotations

import sys
from array import array

from cosystream.events import Codec

AUDIBLE = 165
"""-46 dBFS in 16 bits, as the server has it: what is quieter is not heard to begin."""

BYTES_PER_SAMPLE: dict[Codec, int] = {"pcm_s16le": 2, "mulaw": 1, "alaw": 1}
"""The codecs whose samples can be looked at."""


def first_audible(codec: Codec, payload: bytes) -> int | None:
    """Index of the first sample of at least ``AUDIBLE``, or None where all are quieter."""
    if codec == "pcm_s16le":
        return _first_audible_pcm(payload)
    loud = _MULAW_LOUD if codec == "mulaw" else _ALAW_LOUD
    return next((index for index, byte in enumerate(payload) if loud[byte]), None)


def _first_audible_pcm(payload: bytes) -> int | None:
    samples = array("h", payload)
    if sys.byteorder == "big":
        samples.byteswap()
    if not samples or (max(samples) < AUDIBLE and min(samples) > -AUDIBLE):
        return None
    return next(index for index, sample in enumerate(samples) if abs(sample) >= AUDIBLE)


def _mulaw_magnitude(byte: int) -> int:
    bits = ~byte & 0x7F
    exponent, mantissa = bits >> 4, bits & 0x0F
    return (((mantissa << 3) + 0x84) << exponent) - 0x84


def _alaw_magnitude(byte: int) -> int:
    bits = (byte ^ 0x55) & 0x7F
    exponent, mantissa = bits >> 4, bits & 0x0F
    if exponent == 0:
        return (mantissa << 4) + 8
    return ((mantissa << 4) + 0x108) << (exponent - 1)


_MULAW_LOUD = [_mulaw_magnitude(byte) >= AUDIBLE for byte in range(256)]
_ALAW_LOUD = [_alaw_magnitude(byte) >= AUDIBLE for byte in range(256)]
