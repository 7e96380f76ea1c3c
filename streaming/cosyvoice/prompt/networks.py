"""The two ONNX networks that listen to a recording: the speech tokenizer and the speaker's.

Knows: onnxruntime, what goes in and comes out. Does not know: files' names, how a recording becomes
what goes in.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnxruntime

from streaming.audio.pcm import Float32
from streaming.cosyvoice.sizes import SPEAKER_SIZE, SPEECH_TOKENS, Generation

_PROBES = 64
_PROBE_BYTES = 1 << 16


class WrongNetwork(Exception):
    """A file is no network of the kind, or gives what such a network never gives."""


def fingerprint(generation: Generation, *files: Path) -> str:
    """What tells these networks from others, in hex; reads 4 MiB of each at most.

    A gigabyte is not read whole for it: weights differ everywhere between two trainings, so the
    length and 64 stretches, equally far from one another, tell them apart.
    """
    sha = hashlib.sha256(generation.encode())
    for path in files:
        size = path.stat().st_size
        sha.update(f"\n{size}\n".encode())
        step = max(_PROBE_BYTES, size // _PROBES)
        with path.open("rb") as file:
            for begin in range(0, size, step):
                file.seek(begin)
                sha.update(file.read(_PROBE_BYTES))
    return sha.hexdigest()[:32]


class Network:
    """One network on the CPU, with a bound on its threads."""

    def __init__(self, path: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # its errors have no common base
            raise WrongNetwork(f"{path} cannot be loaded: {error}") from error
        self._path = path
        self._inputs = [entry.name for entry in self._session.get_inputs()]

    def __call__(self, *values: np.ndarray) -> np.ndarray:
        """The first output.

        Raises:
            WrongNetwork: it does not take these inputs.
        """
        if len(values) != len(self._inputs):
            raise WrongNetwork(f"{self._path} takes {len(self._inputs)} inputs, not {len(values)}")
        try:
            outputs = self._session.run(None, dict(zip(self._inputs, values, strict=True)))
        except Exception as error:  # its errors have no common base
            raise WrongNetwork(f"{self._path} fails: {error}") from error
        return np.asarray(outputs[0])


def speech_tokens(network: Network, log_mel: Float32) -> tuple[int, ...]:
    """The tokens of a Whisper log-mel ``(128, T)``.

    Raises:
        WrongNetwork: they are none of the codebook.
    """
    length = np.array([log_mel.shape[1]], np.int32)
    found = network(log_mel[None], length).reshape(-1)
    if found.size and not 0 <= found.min() <= found.max() < SPEECH_TOKENS:
        raise WrongNetwork(f"tokens from {found.min()} to {found.max()}: not of this codebook")
    return tuple(int(token) for token in found)


def speaker_embedding(network: Network, filterbank: Float32) -> Float32:
    """The speaker ``(192,)`` of a Kaldi filterbank ``(T, 80)``, whose mean is taken away here.

    Raises:
        WrongNetwork: it is no such vector.
    """
    centred = filterbank - filterbank.mean(axis=0, keepdims=True)
    found = network(centred[None]).reshape(-1)
    if found.size != SPEAKER_SIZE or not np.isfinite(found).all():
        raise WrongNetwork(f"a speaker of {found.size} numbers, or of such as are none")
    return found.astype(np.float32)
