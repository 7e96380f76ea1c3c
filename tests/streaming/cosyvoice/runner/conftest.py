"""A tiny checkpoint of random weights for each generation, and a runner over it."""

from __future__ import annotations

import pytest
from cosyvoice_rig import Rig, load

from streaming.cosyvoice.tiny import write


@pytest.fixture(scope="session", params=["cosyvoice3", "cosyvoice2"])
def generation(request):
    return request.param


@pytest.fixture(scope="session")
def checkpoint(generation, tmp_path_factory):
    folder = tmp_path_factory.mktemp(generation)
    write(folder, generation)
    return folder


@pytest.fixture(scope="session")
def runner(checkpoint, tmp_path_factory):
    """One for all tests of a generation: what a test leaves behind is a fault."""
    runner = load(checkpoint, tmp_path_factory.mktemp("voices"))
    yield runner
    runner.unload()


@pytest.fixture
def rig(runner):
    return Rig(runner)
