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


def _fold(x: Tensor, bits: int) -> Tensor:
    """``x ^ x >> bits`` in place, the shift a logical one: torch's keeps the sign."""
    return x.bitwise_xor_((x >> bits).bitwise_and_(_WORD >> bits))


def _mix(x: Tensor) -> Tensor:
    """Every bit of an ``int32`` reaches every other, in place (C. Wellons's ``lowbias32``)."""
    x = _fold(x, 16).mul_(0x7FEB352D)
    return _fold(_fold(x, 15).mul_(_signed(0x846CA68B)), 16)


def uniform(keys: Tensor, first: Tensor, count: int, lanes: int) -> Tensor:
    """Numbers in [0, 1) for ``count`` places from ``first`` on: (B, count, lanes), float32.

    In steps of 2^-16, two to a word. ``keys`` and ``first`` are (B,) integers; places are counted
    modulo 2^32.
    """
    keys, first = keys.to(torch.int32)[:, None], first.to(torch.int32)[:, None]
    places = first + torch.arange(count, dtype=torch.int32, device=keys.device)
    places = _mix(_mix(places.bitwise_xor_(keys)).add_(keys))
    words = torch.arange((lanes + 1) // 2, dtype=torch.int32, device=keys.device)
    halves = _mix(places[..., None] + words * _signed(_SPREAD)).view(torch.int16)
    return halves[..., :lanes].float().mul_(2.0**-16).add_(0.5)


def normal(keys: Tensor, first: Tensor, count: int) -> Tensor:
    """Gaussian numbers of unit variance, (B, count), float32 (Box and Muller)."""
    radius, turn = uniform(keys, first, count, 2).unbind(-1)
    return torch.sqrt(-2.0 * torch.log1p(-radius)) * torch.cos(2.0 * math.pi * turn)
