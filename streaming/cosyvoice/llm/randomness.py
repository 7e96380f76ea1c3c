"""Random numbers that are a function of their place: of (seed, segment, step, candidate).

No generator has a state, so what a context draws depends on nobody else, on no order of work and on
no device. The hashes are our arrangement of two public mixers: the finaliser of SplitMix64 (Steele,
Lea, Flood 2014) for keys, and Wellons' "lowbias32" for candidates. Does not know: logits.
"""

from __future__ import annotations

import torch
from torch import Tensor

_MASK_64 = (1 << 64) - 1
_MASK_32 = (1 << 32) - 1
_GOLDEN_64 = 0x9E3779B97F4A7C15
_GOLDEN_32 = 0x9E3779B9
_MIX_64 = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LARGEST = 80.0
"""An exponential deviate is cut here: its chance of being larger is 1e-35."""


def key_of(seed: int, segment: int) -> int:
    """The key of one segment's draws, as a signed 64-bit number; any integers will do."""
    key = _mix_int(_mix_int(seed & _MASK_64) ^ (segment & _MASK_64))
    return _signed(key)


def step_keys(keys: Tensor, steps: Tensor) -> tuple[Tensor, Tensor]:
    """Two independent 32-bit keys a row, of ``keys`` (R,) and ``steps`` (R,), both int64."""
    mixed = keys + steps * _signed(_GOLDEN_64)
    for shift, factor in _MIX_64:
        mixed = (mixed ^ _shifted(mixed, shift)) * _signed(factor)
    mixed = mixed ^ _shifted(mixed, 31)
    return mixed & _MASK_32, _shifted(mixed, 32)


def exponentials(keys: Tensor, candidates: Tensor) -> Tensor:
    """Exponential deviates of ``keys`` (R, 1) at ``candidates`` (R or 1, C): (R, C) float32.

    The candidate with the least deviate / probability is a fair draw. Unlike a search in a running
    sum, that hardly moves when a probability changes in its last bit.
    """
    mixed = keys ^ (candidates * _GOLDEN_32 & _MASK_32)
    mixed = mixed ^ (mixed >> 16)
    mixed = mixed * 0x7FEB352D & _MASK_32
    mixed = mixed ^ (mixed >> 15)
    mixed = mixed * 0x846CA68B & _MASK_32
    mixed = mixed ^ (mixed >> 16)
    uniform = (mixed.to(torch.float32) + 0.5) * 2.0**-32
    return torch.log1p(-uniform).neg().clamp(max=_LARGEST)


def _shifted(value: Tensor, by: int) -> Tensor:
    """A logical shift: torch's own drags the sign along."""
    return (value >> by) & ((1 << (64 - by)) - 1)


def _mix_int(value: int) -> int:
    value = (value + _GOLDEN_64) & _MASK_64
    for shift, factor in _MIX_64:
        value = (value ^ (value >> shift)) * factor & _MASK_64
    return value ^ (value >> 31)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
