"""A checkpoint of random numbers, and voices made of recordings that nobody made.

Both as they lie on a user's disk, so that the runner and the server find them as they find any.
Knows: folders. Does not know: what is measured with them.
"""

from __future__ import annotations

import io
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from streaming.cosyvoice import tiny
from streaming.cosyvoice.prompt.features import PromptFeatures
from streaming.cosyvoice.prompt.frontend import PromptFiles
from streaming.cosyvoice.sizes import (
    FRAMES_PER_TOKEN,
    MEL_BANDS,
    SPEAKER_SIZE,
    SPEECH_TOKENS,
    TOKENS_PER_S,
    Generation,
)
from streaming.samples import SAMPLE_RATE
from streaming.voices.draft import VoiceDraft
from streaming.voices.files import VoiceFiles
from streaming.voices.store import VoiceLimits, VoiceStore

PROMPT_S = 3
TRANSCRIPT = "This is how it sounds when I read aloud."
"""About three seconds of speech."""


@dataclass(frozen=True)
class Made:
    """What there is to speak with."""

    checkpoint: Path
    voices_dir: Path
    voices: tuple[str, ...]
    """Their ids."""


def make(
    folder: Path,
    generation: Generation,
    size: tiny.Size,
    *,
    voices: int,
    dtype: torch.dtype = torch.float32,
) -> Made:
    """Write a checkpoint, unless the folder has one, and ``voices`` voices of ``PROMPT_S``."""
    checkpoint = folder / f"{generation}-{size}"
    if not (checkpoint / f"{generation}.yaml").is_file():  # the last file that is written
        tiny.write(checkpoint, generation, size, dtype=dtype)
    model = PromptFiles.find(checkpoint).fingerprint
    files = VoiceFiles(folder / "voices")
    store = VoiceStore(files, VoiceLimits(per_owner=voices, total_bytes=1 << 40))
    store.load()
    return Made(checkpoint, files.root, tuple(_voices(store, model, voices)))


def prompt(number: int, model: str) -> PromptFeatures:
    """What the networks of that fingerprint heard in recording ``number``, as it were."""
    rng = np.random.default_rng(number)
    tokens = PROMPT_S * TOKENS_PER_S
    return PromptFeatures(
        tokens=tuple(rng.integers(SPEECH_TOKENS, size=tokens).tolist()),
        mel=rng.standard_normal((tokens * FRAMES_PER_TOKEN, MEL_BANDS), dtype=np.float32),
        embedding=rng.standard_normal(SPEAKER_SIZE, dtype=np.float32),
        model=model,
    )


def _voices(store: VoiceStore, model: str, count: int) -> Sequence[str]:
    ids = []
    for number in range(count):
        draft = VoiceDraft(f"random {number}", TRANSCRIPT, "nobody's voice", "en")
        features = prompt(number, model).to_bytes()
        record, _ = store.add("", draft, _recording(number), PROMPT_S * 1000, model, features)
        ids.append(record.id)
    return ids


def _recording(number: int) -> bytes:
    """Three seconds of noise; its own for each number, so each is another recording."""
    rng = np.random.default_rng(number)
    samples = rng.integers(-1000, 1000, size=PROMPT_S * SAMPLE_RATE, dtype=np.int16)
    data = io.BytesIO()
    with wave.open(data, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes(samples.astype("<i2").tobytes())
    return data.getvalue()
