"""How the Mandarin voice does: ``python -m benchmarks.mandarin [--json] [--threads N]``.

Thirty sentences go through the real engine and front end, one context after another, and what comes
out is heard by a speech recogniser; then two contexts speak at once, and an English one beside
them. Needs the extras ``[mandarin]`` and ``[dev]``. Knows: the engine's client. Does not know:
sockets, packets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np
import psutil
import soxr

from benchmarks import chinese
from streaming.config import EngineSettings
from streaming.engine.client import ContextRequest, EngineClient
from streaming.messages import Audio, ContextEvent, Failed, Finished
from streaming.samples import SAMPLE_RATE

READY_S = 120.0
SPEECH_S = 120.0
PARAGRAPH = "".join(text for text, _ in chinese.SENTENCES[:6])
ENGLISH = "Could you tell me where the station is, please?"
ENGLISH_TRIES = 12
SENTENCE_GAP_S = 0.2


@dataclass
class Spoken:
    """A context as its owner saw it; times are seconds since its text was complete."""

    began_s: float = field(default_factory=time.perf_counter)
    pcm: list[bytes] = field(default_factory=list)
    first_s: float = 0.0
    late_s: float = 0.0
    """How long its listener ran dry at the worst, playing from the first audio on."""
    compute_s: float = 0.0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    error: str = ""

    def __call__(self, event: ContextEvent) -> None:
        """Take in what the engine tells."""
        now_s = time.perf_counter() - self.began_s
        match event:
            case Audio(pcm=pcm):
                self.first_s = self.first_s or now_s
                self.late_s = max(self.late_s, now_s - self.first_s - self.audio_s)
                self.pcm.append(pcm)
            case Finished(compute_s=compute_s):
                self.compute_s = compute_s
                self.over.set()
            case Failed(message=message):
                self.error = message
                self.over.set()

    @property
    def audio_s(self) -> float:
        """How much has come."""
        return sum(map(len, self.pcm)) / 2 / SAMPLE_RATE

    @property
    def samples(self) -> np.ndarray:
        """Mono, -1 to 1."""
        return np.frombuffer(b"".join(self.pcm), "<i2").astype(np.float32) / 32_768


@dataclass(frozen=True)
class Report:
    """What was measured; ``failed`` are the sentences that were heard wrongly."""

    character_error_percent: float
    real_time_factor: float
    first_packet_p50_ms: float
    first_packet_worst_ms: float
    two_real_time_factor: float
    two_late_ms: float
    english_alone_p50_ms: float
    english_beside_two_p50_ms: float
    english_beside_two_worst_ms: float
    engine_mib_before: float
    engine_mib: float
    loading_s: float
    failed: list[tuple[int, str, str]]
    machine: str


def speak(client: EngineClient, text: str, voice: str) -> Spoken:
    """Begin a context with all of its text."""
    spoken = Spoken()
    context = client.open(ContextRequest(voice=voice), spoken)
    spoken.began_s = time.perf_counter()
    context.append(text)
    context.end()
    return spoken


async def finish(*contexts: Spoken) -> None:
    """Wait until all are complete.

    Raises:
        RuntimeError: one of them failed.
    """
    async with asyncio.timeout(SPEECH_S):
        for spoken in contexts:
            await spoken.over.wait()
            if spoken.error:
                raise RuntimeError(spoken.error)


async def one_by_one(client: EngineClient) -> list[Spoken]:
    """Every sentence, each after the one before it."""
    out = []
    for text, _ in chinese.SENTENCES:
        out.append(speak(client, text, "mandarin"))
        await finish(out[-1])
        await asyncio.sleep(SENTENCE_GAP_S)
    return out


async def english(client: EngineClient) -> list[float]:
    """First packets of English contexts, in ms."""
    firsts = []
    for _ in range(ENGLISH_TRIES):
        spoken = speak(client, ENGLISH, "heart")
        await finish(spoken)
        firsts.append(spoken.first_s * 1000)
        await asyncio.sleep(SENTENCE_GAP_S)
    return firsts


async def measure(threads: int) -> Report:
    """All of it."""
    settings = EngineSettings(threads=threads, max_ahead_s=SPEECH_S)
    client = EngineClient(settings)
    await client.start()
    try:
        await client.wait_ready(READY_S)
        process = psutil.Process(client.engine_pid)
        before_mib = process.memory_info().rss / 2**20
        loading = speak(client, "你好。", "mandarin")
        await finish(loading)
        sentences = await one_by_one(client)
        alone = await english(client)
        two = [speak(client, PARAGRAPH, "mandarin") for _ in range(2)]
        began_s = time.perf_counter()
        await finish(*two)
        two_took_s = time.perf_counter() - began_s
        others = [speak(client, PARAGRAPH * 3, "mandarin") for _ in range(2)]
        beside = await english(client)
        await finish(*others)
        mib = process.memory_info().rss / 2**20
    finally:
        await client.close()
    wrong, characters, failed = listen(sentences)
    return Report(
        character_error_percent=round(100 * wrong / characters, 2),
        real_time_factor=round(
            sum(each.compute_s for each in sentences) / sum(each.audio_s for each in sentences), 3
        ),
        first_packet_p50_ms=round(1000 * statistics.median(each.first_s for each in sentences)),
        first_packet_worst_ms=round(1000 * max(each.first_s for each in sentences)),
        two_real_time_factor=round(two_took_s / max(each.audio_s for each in two), 3),
        two_late_ms=round(1000 * max(each.late_s for each in two)),
        english_alone_p50_ms=round(statistics.median(alone)),
        english_beside_two_p50_ms=round(statistics.median(beside)),
        english_beside_two_worst_ms=round(max(beside)),
        engine_mib_before=round(before_mib),
        engine_mib=round(mib),
        loading_s=round(loading.first_s, 2),
        failed=failed,
        machine=f"{platform.machine()}, Python {platform.python_version()}",
    )


def listen(sentences: Sequence[Spoken]) -> tuple[int, int, list[tuple[int, str, str]]]:
    """Wrong characters, characters in all, and the sentences that were heard wrongly."""
    # The recogniser is the tests'; its model comes with their packages.
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    recognise = import_module("recognise")

    wrong = characters = 0
    failed = []
    for (text, read), spoken in zip(chinese.SENTENCES, sentences, strict=True):
        pcm = soxr.resample(spoken.samples, SAMPLE_RATE, recognise.RATE)
        heard = recognise.transcribe(pcm, language="zh", beam=5, prompt=chinese.PROMPT)
        missed, length = chinese.errors(read or text, heard)
        wrong += missed
        characters += length
        if missed:
            failed.append((missed, text, heard))
    return wrong, characters, failed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mandarin",
        description="Thirty sentences by the Mandarin voice, heard by a speech recogniser; then "
        "two contexts at once, and an English one beside them (after make setup-dev and make "
        "setup-mandarin).",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--threads", type=int, default=1, help="engine.threads (1)")
    arguments = parser.parse_args()
    report = asdict(asyncio.run(measure(arguments.threads)))
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False))
        return
    failed = report.pop("failed")
    for name, value in report.items():
        print(f"{name:30} {value}")
    for missed, text, heard in failed:
        print(f"  {missed} wrong: {text} heard as {heard}")


if __name__ == "__main__":
    main()
