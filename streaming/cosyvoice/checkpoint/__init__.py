"""A CosyVoice checkpoint folder, checked and read: what its networks measure, and their weights.

``load(folder)`` is the door. The generation is told by the yaml's name. Nothing in the folder is
run: tensors come with ``weights_only``, numbers through a loader that builds nothing.
Knows: the official layout. Does not know: networks, devices' limits, where folders come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from streaming.cosyvoice import folder as folders
from streaming.cosyvoice.checkpoint import measures, shapes, speakers, weights
from streaming.cosyvoice.checkpoint.speakers import Speaker
from streaming.cosyvoice.folder import Layout
from streaming.cosyvoice.folder_errors import (
    CheckpointError,
    DamagedFile,
    MissingFile,
    NotACheckpoint,
    Unsupported,
    WrongGeneration,
    WrongShape,
    WrongTensors,
)
from streaming.cosyvoice.sizes import Sizes

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "DamagedFile",
    "Layout",
    "MissingFile",
    "NotACheckpoint",
    "Speaker",
    "Unsupported",
    "WrongGeneration",
    "WrongShape",
    "WrongTensors",
    "load",
    "look",
]


@dataclass(frozen=True)
class Checkpoint:
    """All that a folder holds; the states go into ``load_state_dict(strict=True)`` as they are."""

    files: Layout
    sizes: Sizes
    llm: dict[str, Tensor]
    flow: dict[str, Tensor]
    vocoder: dict[str, Tensor]
    speakers: dict[str, Speaker]

    @property
    def vocab(self) -> Path:
        """``vocab.json`` of the text tokenizer."""
        return self.files.vocab

    @property
    def merges(self) -> Path:
        """``merges.txt`` of the text tokenizer."""
        return self.files.merges

    @property
    def campplus(self) -> Path:
        """The ONNX file that makes a speaker embedding."""
        return self.files.campplus

    @property
    def speech_tokenizer(self) -> Path:
        """The ONNX file that makes speech tokens of a recording."""
        return self.files.speech_tokenizer


def look(folder: Path) -> tuple[Layout, Sizes]:
    """The files and sizes of a checkpoint, without its weights: quick.

    Raises:
        CheckpointError: the folder cannot be used; the message says why and what helps.
    """
    files = folders.find(folder)
    files.check()
    return files, measures.read(files)


def load(
    folder: Path, *, device: torch.device | str = "cpu", dtype: torch.dtype | None = None
) -> Checkpoint:
    """Everything in a checkpoint folder, its weights on ``device``.

    ``dtype`` is for the LLM and the flow; without it they keep the file's. What must stay exact
    keeps float32 whatever is asked for: the vocoder, and the flow's rotary frequencies. On the
    CPU and in the file's own type the tensors are mapped from the disk, read when first used.

    Raises:
        CheckpointError: the folder cannot be used; the message says why and what helps.
    """
    files, sizes = look(folder)
    expected = shapes.networks(sizes)
    states: dict[str, dict[str, Tensor]] = {}
    for name, path in (("llm", files.llm), ("flow", files.flow), ("hift", files.hift)):
        state = weights.read(path)
        weights.check(path, state, expected[name], files.generation)
        chosen = torch.float32 if name == "hift" else dtype
        states[name] = {key: _placed(key, value, device, chosen) for key, value in state.items()}
    named = speakers.read(files.speakers)
    return Checkpoint(files, sizes, states["llm"], states["flow"], states["hift"], named)


def _placed(
    name: str, value: Tensor, device: torch.device | str, dtype: torch.dtype | None
) -> Tensor:
    exact = name.endswith("inv_freq")
    return value.to(device, torch.float32 if exact else dtype)
