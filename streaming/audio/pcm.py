"""Samples as numbers: float and 16-bit PCM, and the two telephone laws of ITU-T G.711.

Knows: how one sample is written. Does not know: rates, packets, streams.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

Int16 = NDArray[np.int16]
Float32 = NDArray[np.float32]

INT16 = np.dtype("<i2")
"""16-bit little-endian, the byte order of everything that leaves, whatever the machine's own."""
SAMPLE_BYTES = 2
FULL_SCALE = 32767


def from_float(samples: Float32) -> Int16:
    """16-bit samples of float ones; beyond -1..1 is clipped, symmetrically; NaN becomes silence.

    A NaN would else be cast to full scale, which is a bang in somebody's ear.
    """
    scaled = np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0) * np.float32(FULL_SCALE)
    clipped: Int16 = np.clip(np.rint(scaled), -FULL_SCALE, FULL_SCALE).astype(INT16)
    return clipped


def to_float(samples: Int16) -> Float32:
    """Float samples of 16-bit ones, such that ``from_float`` gives the same ones back."""
    return samples.astype(np.float32) / np.float32(FULL_SCALE)


def from_bytes(pcm: bytes) -> Int16:
    """The samples in little-endian PCM, read-only and without a copy.

    Raises:
        ValueError: for half a sample.
    """
    if len(pcm) % SAMPLE_BYTES:
        raise ValueError(f"{len(pcm)} bytes are no whole number of 16-bit samples")
    return np.frombuffer(pcm, INT16)


def to_bytes(samples: Int16) -> bytes:
    """Little-endian PCM of 16-bit samples."""
    return samples.astype(INT16, copy=False).tobytes()


def encode_mulaw(samples: Int16) -> bytes:
    """One G.711 mu-law byte a sample."""
    return _mulaw_table()[samples.astype(np.uint16)].tobytes()


def encode_alaw(samples: Int16) -> bytes:
    """One G.711 A-law byte a sample."""
    return _alaw_table()[samples.astype(np.uint16)].tobytes()


def _every_sample() -> NDArray[np.int32]:
    """All 16-bit values, each at the index it has modulo 65,536."""
    return np.arange(65536).astype(np.int16).astype(np.int32)


@functools.cache
def _mulaw_table() -> NDArray[np.uint8]:
    """G.711 table 2a in 16-bit scale: bias 33 * 4, clipped at 8159 * 4, all bits inverted."""
    values = _every_sample()
    biased = np.minimum(np.abs(values), 32635) + 132
    exponent = np.frexp(biased)[1] - 8
    mantissa = (biased >> (exponent + 3)) & 0x0F
    sign = np.where(values < 0, 0x80, 0)
    table: NDArray[np.uint8] = (~(sign | exponent << 4 | mantissa) & 0xFF).astype(np.uint8)
    return table


@functools.cache
def _alaw_table() -> NDArray[np.uint8]:
    """G.711 table 1a in 16-bit scale (13 bits used), every second bit inverted."""
    values = _every_sample()
    steps = np.where(values < 0, ~values, values) >> 4
    exponent = np.maximum(np.frexp(steps)[1] - 4, 0)
    mantissa = (steps >> np.maximum(exponent - 1, 0)) & 0x0F
    sign = np.where(values < 0, 0, 0x80)
    table: NDArray[np.uint8] = ((sign | exponent << 4 | mantissa) ^ 0x55).astype(np.uint8)
    return table
