"""Weights out of a ``.pt`` file, as named tensors and nothing else.

Read with ``weights_only``, so no code in the file runs; memory-mapped, so loading costs no
memory of its own until a network takes the tensors over. What training adds is dropped (the
counters ``epoch`` and ``step``, a discriminator, the ``generator.`` before the vocoder's names),
and weight normalisation in its older spelling is renamed.
Knows: the file format, names. Does not know: what a tensor is for.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from streaming.cosyvoice.folder import QWEN
from streaming.cosyvoice.folder_errors import (
    DamagedFile,
    WrongGeneration,
    WrongShape,
    WrongTensors,
)
from streaming.cosyvoice.sizes import Generation

_FROM_TRAINING = ("epoch", "step")
_OLDER_NORM = {
    ".weight_g": ".parametrizations.weight.original0",
    ".weight_v": ".parametrizations.weight.original1",
}
_BY_FIRST_WIDTH: dict[int, Generation] = {7: "cosyvoice2", 5: "cosyvoice3"}
"""The vocoder's first convolution: the causal one sees 4 frames ahead, the other 3 on each side."""

_NAMED_AT_MOST = 5
_END_BYTES = 1 << 16


def read(path: Path) -> dict[str, Tensor]:
    """The tensors of ``llm.pt``, ``flow.pt`` or ``hift.pt``, on the CPU, in their own types.

    Raises:
        DamagedFile: the file is cut off, damaged, or holds something else.
    """
    found = unpickle(path)
    if not isinstance(found, dict):
        raise DamagedFile(f"{path} holds a {type(found).__name__}, not the tensors of a network")
    state: dict[str, Tensor] = {}
    for name, value in found.items():
        if name in _FROM_TRAINING or name.startswith("discriminator."):
            continue
        if not isinstance(value, Tensor):
            raise DamagedFile(f"{path}: {name} is a {type(value).__name__}, not a tensor")
        state[_official(name)] = value
    return state


def unpickle(path: Path) -> Any:
    """What a ``.pt`` file holds, if that is plain data and tensors.

    Raises:
        DamagedFile: it is cut off, damaged, or would run code.
    """
    first, last = _ends(path)
    zipped = first.startswith(b"PK\x03\x04")
    if zipped and b"PK\x05\x06" not in last:
        raise DamagedFile(
            f"{path} is cut off after {path.stat().st_size:,} bytes: its download has not ended. "
            "Delete it and download it again"
        )
    try:
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)
    except pickle.UnpicklingError as error:
        raise DamagedFile(
            f"{path} holds more than tensors and plain values, and is not loaded since that could "
            f"run code. Take the published file ({_first_line(error)})"
        ) from error
    except Exception as error:  # a broken pickle raises whatever its bytes happen to spell
        raise DamagedFile(
            f"{path} is damaged. Delete it and download it again ({_first_line(error)})"
        ) from error


def check(
    path: Path,
    state: Mapping[str, Tensor],
    shapes: Mapping[str, tuple[int, ...]],
    generation: Generation,
) -> None:
    """Whether the file's tensors are those that the configuration asks for.

    Raises:
        WrongGeneration, WrongTensors, WrongShape: they are not; the message names tensors.
    """
    made_for = generation_of(state)
    if made_for not in {generation, None}:
        raise WrongGeneration(
            f"{path} is of {made_for}, but {generation}.yaml beside it says {generation}: files "
            "of two checkpoints are mixed. Take all of them from one"
        )
    missing = [name for name in shapes if name not in state]
    unknown = [name for name in state if name not in shapes]
    if missing or unknown:
        raise WrongTensors(
            f"{path} is not the network that {generation}.yaml and {QWEN}/config.json describe: "
            + "; ".join((*_listed("it lacks", missing), *_listed("it has beside that", unknown)))
        )
    for name, shape in shapes.items():
        if tuple(state[name].shape) != shape:
            raise WrongShape(
                f"{path}: {name} measures {tuple(state[name].shape)}, and by {generation}.yaml "
                f"and {QWEN}/config.json it should measure {shape}"
            )


def generation_of(state: Mapping[str, Tensor]) -> Generation | None:
    """The generation that the tensors tell by what only one of them has; None: by nothing."""
    if "llm_decoder.weight" in state:
        return "cosyvoice2" if "llm_embedding.weight" in state else "cosyvoice3"
    if "decoder.estimator.proj_out.weight" in state:
        return "cosyvoice3"
    if "decoder.estimator.final_proj.weight" in state:
        return "cosyvoice2"
    first = state.get("conv_pre.parametrizations.weight.original1")
    if first is not None:
        return _BY_FIRST_WIDTH.get(first.shape[-1])
    return None


def _official(name: str) -> str:
    name = name.removeprefix("generator.")
    for old, new in _OLDER_NORM.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def _listed(what: str, names: list[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _NAMED_AT_MOST} more" if len(names) > _NAMED_AT_MOST else ""
    return [f"{what} {', '.join(names[:_NAMED_AT_MOST])}{more}"]


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _ends(path: Path) -> tuple[bytes, bytes]:
    """The first and the last 64 KiB, between which a zip archive begins and ends."""
    with path.open("rb") as file:
        first = file.read(_END_BYTES)
        file.seek(max(0, path.stat().st_size - _END_BYTES))
        return first, file.read()
