"""Records the starter voices: ``python -m streaming.voices.starters.make``.

The bundled voices speak the transcripts of ``starters.toml``, and each recording is cleaned like
any that is sent to make a voice of. Needs the extras ``[mandarin]`` and ``[cosyvoice]``. Knows: the
engine's client. Does not know: whether the recordings are understood (a test listens to them).
"""

from __future__ import annotations

import asyncio

import soundfile

from streaming.audio.wav import wav_file
from streaming.config import EngineSettings
from streaming.cosyvoice.prompt import recording
from streaming.engine.client import ContextRequest, EngineClient
from streaming.messages import Audio, ContextEvent, Failed, Finished
from streaming.samples import SAMPLE_RATE
from streaming.voices.starters import Starter, starters

SEED = 7
READY_S = 120.0
SPEECH_S = 120.0


class _Take:
    """A context's audio, as it comes."""

    def __init__(self) -> None:
        self.pcm = b""
        self.over = asyncio.Event()
        self.failure = ""

    def __call__(self, event: ContextEvent) -> None:
        match event:
            case Audio(pcm=pcm):
                self.pcm += pcm
            case Finished():
                self.over.set()
            case Failed(message=message):
                self.failure = message
                self.over.set()


async def _speak(client: EngineClient, starter: Starter) -> bytes:
    take = _Take()
    request = ContextRequest(voice=starter.made_with, language=starter.language, seed=SEED)
    context = client.open(request, take)
    context.append(starter.transcript)
    context.end()
    async with asyncio.timeout(SPEECH_S):
        await take.over.wait()
    if take.failure:
        raise RuntimeError(f"{starter.id}: {take.failure}")
    return take.pcm


async def _record_all() -> None:
    client = EngineClient(EngineSettings(max_ahead_s=60.0))
    await client.start()
    try:
        await client.wait_ready(READY_S)
        for starter in starters():
            made = recording.read(wav_file(await _speak(client, starter)))
            soundfile.write(
                starter.path, made.samples, SAMPLE_RATE, format="FLAC", subtype="PCM_16"
            )
            print(f"{starter.path.name}: {made.duration_s:.2f} s", *made.warnings, sep="\n  ")  # noqa: T201 - a command that prints
    finally:
        await client.close()


if __name__ == "__main__":
    asyncio.run(_record_all())
