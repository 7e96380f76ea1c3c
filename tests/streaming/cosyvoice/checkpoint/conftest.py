"""A checkpoint folder of each generation, written once, and a copy for each test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from streaming.cosyvoice import tiny
from streaming.cosyvoice.sizes import Generation


@pytest.fixture(scope="package")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[Generation, Path]:
    """A random checkpoint of each generation, never changed."""
    folder = tmp_path_factory.mktemp("checkpoints")
    names: tuple[Generation, ...] = ("cosyvoice2", "cosyvoice3")
    return {name: tiny.write(folder / name, name, speakers=["anna"]).folder for name in names}


@pytest.fixture
def folder(written: dict[Generation, Path], tmp_path: Path) -> Path:
    """A copy of version 3's whose files may be replaced: they are hard links."""
    copy = tmp_path / "copy"
    shutil.copytree(written["cosyvoice3"], copy, copy_function=os.link)
    return copy
