"""Recordings of a voice in all kinds of files, for tests of what is made of them."""

from __future__ import annotations

import io
import wave
from functools import cache
from pathlib import Path

import av
import numpy as np
import soundfile
from talk import decode_file

STARTER = Path(__file__).parent.parent / "streaming" / "voices" / "starters" / "english.flac"
CONTAINERS = {
    "wav": ("wav", "pcm_s16le"),
    "mp3": ("mp3", "libmp3lame"),
    "flac": ("flac", "flac"),
    "ogg": ("ogg", "libopus"),
    "m4a": ("ipod", "aac"),
    "webm": ("webm", "libopus"),
}


@cache
def speech(rate: int = 48_000) -> np.ndarray:
    """Seven seconds of somebody who speaks."""
    samples, own_rate = decode_file(STARTER.read_bytes())
    if own_rate == rate:
        return samples
    at = np.arange(0, len(samples), own_rate / rate)
    return np.interp(at, np.arange(len(samples)), samples).astype(np.float32)


def wav(samples: np.ndarray, rate: int = 48_000) -> bytes:
    """16-bit mono."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return file.getvalue()


@cache
def a_recording(seconds: float = 6.0, rate: int = 48_000) -> bytes:
    """A wav of so much speech, said over and over where that is long."""
    samples = np.resize(speech(rate), round(seconds * rate))
    return wav(samples, rate)


@cache
def a_call(seconds: float = 6.0) -> bytes:
    """The same as a telephone has it: 8,000 samples a second in mu-law."""
    file = io.BytesIO()
    samples = np.resize(speech(8_000), round(seconds * 8_000))
    soundfile.write(file, samples, 8_000, "ULAW", format="WAV")
    return file.getvalue()


@cache
def encoded(kind: str) -> bytes:
    """The same speech in a file of that kind."""
    container, codec = CONTAINERS[kind]
    file = io.BytesIO()
    with av.open(file, "w", format=container) as out:
        stream = out.add_stream(codec, rate=48_000, layout="mono")
        pcm = (speech() * 32767).astype("<i2").reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(pcm, format="s16", layout="mono")
        frame.sample_rate = 48_000
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            out.mux(packet)
    return file.getvalue()
