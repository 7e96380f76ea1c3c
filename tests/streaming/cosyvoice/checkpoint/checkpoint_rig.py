"""Checkpoint folders to put faults into, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from streaming.cosyvoice.checkpoint import (
    CheckpointError,
    load,
)

Edit = Callable[[Path], None]


def put(path: Path, content: bytes | str) -> None:
    """Replace a file without writing into what it is linked to."""
    path.unlink(missing_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    put(path, text.replace(old, new))


def save(path: Path, state: object) -> None:
    path.unlink(missing_ok=True)
    torch.save(state, path)


def refusal(kind: type[CheckpointError], folder: Path) -> str:
    with pytest.raises(kind) as caught:
        load(folder)
    assert type(caught.value) is kind
    return str(caught.value)
