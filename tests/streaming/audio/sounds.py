"""Signals to encode, a decoder that is not ours, and measures of likeness."""

from __future__ import annotations

import io

import av
import numpy as np

from streaming.audio.format import AudioFormat
from streaming.audio.packetizer import Packet, Packetizer

DECODERS = {
    "opus": ("libopus", 48_000),
    "pcm_s16le": ("pcm_s16le", None),
    "mulaw": ("pcm_mulaw", None),
    "alaw": ("pcm_alaw", None),
}


def tone(samples: int, hz: float = 440.0, amplitude: float = 0.5, rate: int = 24_000):
    """A sine as float32."""
    return (amplitude * np.sin(2 * np.pi * hz * np.arange(samples) / rate)).astype(np.float32)


def speech_like(samples: int, seed: int = 7):
    """Harmonics of a gliding voice with a syllable's rhythm and some breath, as float32."""
    t = np.arange(samples) / 24_000
    phase = 2 * np.pi * np.cumsum(130 + 30 * np.sin(2 * np.pi * 0.7 * t)) / 24_000
    voice = sum(np.sin(k * phase) / k**1.3 for k in range(1, 24))
    breath = np.random.default_rng(seed).standard_normal(samples) * 0.05
    rhythm = np.clip(np.sin(2 * np.pi * 3.5 * t) + 0.4, 0, 1)
    return (0.12 * rhythm * (voice + breath)).astype(np.float32)


def pcm16(signal) -> bytes:
    return np.rint(np.asarray(signal) * 32767).astype("<i2").tobytes()


def cut(data: bytes, sizes) -> list[bytes]:
    """``data`` in pieces of ``sizes`` samples in turn, over and over."""
    pieces, at, turn = [], 0, 0
    while at < len(data):
        size = 2 * sizes[turn % len(sizes)]
        pieces.append(data[at : at + size])
        at, turn = at + size, turn + 1
    return pieces


def packetize(audio: AudioFormat, data: bytes, sizes=(1_920,)) -> list[Packet]:
    """All packets of one context."""
    packetizer = Packetizer(audio)
    try:
        packets = [p for piece in cut(data, sizes) for p in packetizer.push(piece)]
        return packets + packetizer.finish()
    finally:
        packetizer.close()


def decode(audio: AudioFormat, payloads):
    """The sound of the payloads as float32 at 48 kHz (Opus, pre-skip included) or ``rate``."""
    name, rate = DECODERS[audio.codec]
    decoder = av.CodecContext.create(name, "r")
    decoder.sample_rate = rate or audio.rate
    decoder.layout = "mono"
    frames = [f for payload in payloads for f in decoder.decode(av.Packet(payload))]
    frames += decoder.decode(None)
    return np.concatenate([_floats(f) for f in frames]) if frames else np.zeros(0, np.float32)


def decode_file(data: bytes):
    """The sound of a file as float32, and its rate."""
    with av.open(io.BytesIO(data)) as container:
        rate = container.streams.audio[0].rate
        return np.concatenate([_floats(f) for f in container.decode(audio=0)]), rate


def heard(audio: AudioFormat, packets: list[Packet]):
    """What a listener plays: the decoded sound after the pre-skip, at 48 kHz or ``rate``."""
    return decode(audio, [p.payload for p in packets])[audio.pre_skip_48k :]


def snr_db(reference, signal) -> float:
    reference = np.asarray(reference, np.float64)
    error = reference - signal[: len(reference)]
    return float(10 * np.log10((reference**2).sum() / max((error**2).sum(), 1e-12)))


def dbfs(signal) -> float:
    return float(20 * np.log10(max(np.sqrt(np.mean(np.square(signal, dtype=np.float64))), 1e-9)))


def _floats(frame):
    samples = frame.to_ndarray().reshape(-1)
    return samples.astype(np.float32) / 32768 if samples.dtype == np.int16 else samples
