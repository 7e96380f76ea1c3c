"""Speech, and files of it in any format, for the tests of prompts."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
import soundfile
import soxr

from streaming.voices.starters import starters

RATE = 24_000
RNG_SEED = 3


@cache
def speech():
    """Seven seconds of it, mono at 24 kHz."""
    samples, rate = soundfile.read(starters()[0].path, dtype="float32")
    assert rate == RATE
    samples.setflags(write=False)
    return samples


def speech_of(length_s):
    """So much of it, said over and over, no pause at either end."""
    talk = speech()[RATE // 4 :]
    return np.tile(talk, 6)[: round(length_s * RATE)]


def noise(length_s, level):
    """White noise of that RMS."""
    rng = np.random.default_rng(RNG_SEED)
    return (rng.standard_normal(round(length_s * RATE)) * level).astype(np.float32)


def file_of(samples, kind="WAV", subtype=None, rate=RATE):
    """The bytes of a file with these samples, ``(T,)`` or ``(T, C)``, resampled to ``rate``."""
    if rate != RATE:
        samples = soxr.resample(samples, RATE, rate)
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format=kind, subtype=subtype)
    return out.getvalue()
