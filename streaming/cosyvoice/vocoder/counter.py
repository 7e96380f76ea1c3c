"""Random numbers that are a function of where they stand: (seed, sample, lane) to a number.

So a stream's noise is the same however it is cut and whoever shares its batch, and no generator's
state or buffer of noise is kept. Knows: 32-bit mixing, on the device, without a host sync. Does
not know: what the numbers are for.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_WORD = 0xFFFFFFFF
_SPREAD = 0x9E3779B9
"""2^32 over the golden ratio: neighbouring lanes land far apart."""


def _signed(word: int) -> int:
    """The same 32 bits as torch's ``int32`` has them."""
    word &= _WORD
    return word - (1 << 32) if word >> 31 else word


def key(seed: int) -> int:
    """32 well-mixed bits of a seed of any size, signed (the finaliser of SplitMix64)."""
    mixed = (seed + 0x9E3779B97F4A7C15) & (1 << 64) - 1
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
    return _signed(mixed ^ mixed >> 31)


def _shifted(x: Tensor, bits: int) -> Tensor:
    """A logical shift to the right: torch's keeps the sign."""
    return (x >> bits) & (_WORD >> bits)


def _mixed(x: Tensor) -> Tensor:
    """Every bit of an ``int32`` reaches every other (constants: C. Wellons, ``lowbias32``)."""
    x = (x ^ _shifted(x, 16)) * 0x7FEB352D
    x = (x ^ _shifted(x, 15)) * _signed(0x846CA68B)
    return x ^ _shifted(x, 16)


def uniform(keys: Tensor, first: Tensor, count: int, lanes: int) -> Tensor:
    """Numbers in [0, 1) for ``count`` places from ``first`` on: (B, count, lanes), float32.

    ``keys`` and ``first`` are (B,) integers; places are counted modulo 2^32.
    """
    keys, first = keys.to(torch.int32)[:, None], first.to(torch.int32)[:, None]
    places = first + torch.arange(count, dtype=torch.int32, device=keys.device)
    places = _mixed(_mixed(places ^ keys) + keys)
    spread = [_signed(lane * _SPREAD) for lane in range(lanes)]
    lane = torch.tensor(spread, dtype=torch.int32, device=keys.device)
    return _shifted(_mixed(places[..., None] + lane), 8).to(torch.float32) * 2.0**-24


def normal(keys: Tensor, first: Tensor, count: int) -> Tensor:
    """Gaussian numbers of unit variance, (B, count), float32 (Box and Muller)."""
    radius, turn = uniform(keys, first, count, 2).unbind(-1)
    return torch.sqrt(-2.0 * torch.log1p(-radius)) * torch.cos(2.0 * math.pi * turn)
