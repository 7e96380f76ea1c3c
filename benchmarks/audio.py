"""What audio costs: ``python -m benchmarks.audio [--json]``, one core, the embedded voice's speech.

Knows: how to time the audio room's parts on real speech. Does not know: sessions, sockets.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from hibari import Hibari

from streaming.audio.containers import open_container
from streaming.audio.format import AudioFormat
from streaming.audio.joiner import SegmentJoiner
from streaming.audio.levels import LevelMeter
from streaming.audio.opus import OpusEncoder
from streaming.audio.packetizer import Packetizer
from streaming.audio.pcm import Float32, from_float, to_bytes
from streaming.config import PauseSettings
from streaming.samples import CHUNK_SAMPLES, SAMPLE_RATE

TEXT = (
    "The quick brown fox jumps over the lazy dog, and then it runs away. She sells sea shells by"
    " the sea shore. Please close the window, thank you. On the third of March, one thousand two"
    " hundred and fifty people paid to hear it read at half past seven in the evening."
)
FORMATS = {
    "opus 24 kHz": AudioFormat("opus", SAMPLE_RATE, 80),
    "opus 24 kHz, fec": AudioFormat("opus", SAMPLE_RATE, 80, fec=True),
    "pcm 24 kHz": AudioFormat("pcm_s16le", SAMPLE_RATE, 80),
    "pcm 48 kHz": AudioFormat("pcm_s16le", 48_000, 80),
    "pcm 16 kHz": AudioFormat("pcm_s16le", 16_000, 80),
    "mu-law 8 kHz": AudioFormat("mulaw", 8_000, 80),
    "A-law 8 kHz": AudioFormat("alaw", 8_000, 80),
}
_ROUNDS = 5
_FRAME_SAMPLES = SAMPLE_RATE // 50
_CHUNK_BYTES = 2 * CHUNK_SAMPLES


def measure() -> dict[str, dict[str, int]]:
    """All figures: Opus frames of 20 ms a second, and microseconds for 80 ms of audio."""
    clip: Float32 = Hibari()(TEXT, seed=1)
    clip = clip[: len(clip) // CHUNK_SAMPLES * CHUNK_SAMPLES]
    pcm = to_bytes(from_float(clip))
    chunks = len(clip) // CHUNK_SAMPLES
    frames = len(clip) // _FRAME_SAMPLES
    return {
        "opus_frames_per_s": {
            f"complexity {level}": round(frames / _best_s(partial(_encode, pcm, level)))
            for level in (0, 3, 5, 7, 10)
        },
        "us_per_80_ms_packet": {
            name: _us(partial(_packetize, pcm, audio), chunks) for name, audio in FORMATS.items()
        },
        "us_per_80_ms": {
            "joiner": _us(partial(_join, clip), chunks),
            "levels": _us(partial(_levels, pcm), chunks),
            "wav": _us(partial(_contain, pcm, "wav"), chunks),
            "ogg opus": _us(partial(_contain, pcm, "opus"), chunks),
            "mp3": _us(partial(_contain, pcm, "mp3"), chunks),
        },
        "us_per_context": {
            "opus encoder": round(1e6 * _best_s(_open_and_close)),
        },
    }


def _best_s(work: Callable[[], None]) -> float:
    """The quickest of some rounds: what it costs when nothing else runs."""
    rounds: list[float] = []
    for _ in range(_ROUNDS):
        began_s = time.perf_counter()
        work()
        rounds.append(time.perf_counter() - began_s)
    return min(rounds)


def _us(work: Callable[[], None], chunks: int) -> int:
    return round(1e6 * _best_s(work) / chunks)


def _pieces(pcm: bytes, size: int) -> list[bytes]:
    return [pcm[i : i + size] for i in range(0, len(pcm), size)]


def _encode(pcm: bytes, complexity: int) -> None:
    encoder = OpusEncoder(SAMPLE_RATE, complexity=complexity)
    for piece in _pieces(pcm, 2 * _FRAME_SAMPLES):
        encoder.encode(piece)
    encoder.close()


def _packetize(pcm: bytes, audio: AudioFormat) -> None:
    packetizer = Packetizer(audio)
    for piece in _pieces(pcm, _CHUNK_BYTES):
        packetizer.push(piece)
    packetizer.close()


def _join(clip: Float32) -> None:
    joiner = SegmentJoiner(PauseSettings())
    joiner.begin("sentence")
    for piece in np.split(clip, len(clip) // CHUNK_SAMPLES):
        joiner.push(piece)
    joiner.end()


def _levels(pcm: bytes) -> None:
    meter = LevelMeter()
    for piece in _pieces(pcm, _CHUNK_BYTES):
        meter.push(piece)


def _contain(pcm: bytes, name: str) -> None:
    container = open_container(name)
    for piece in _pieces(pcm, _CHUNK_BYTES):
        container.push(piece)
    container.finish()
    container.close()


def _open_and_close() -> None:
    OpusEncoder(SAMPLE_RATE).close()


def main() -> None:
    """Measure, and print a table or one JSON object."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.audio",
        description="What encoding and resampling cost on one core, over real speech.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    as_json = parser.parse_args().json
    figures = measure()
    if as_json:
        print(json.dumps(figures))
        return
    for group, rows in figures.items():
        print(group)
        for name, value in rows.items():
            print(f"  {name:<20}{value:>10,}")


if __name__ == "__main__":
    main()
