"""Fixtures for all tests: servers that are started and ended for them."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from servers import LiveServer, StartServer, start

settings.register_profile("steady", derandomize=True)
settings.load_profile("steady")
"""The same examples every time: who changes nothing breaks nothing. New ones are looked for with
``--hypothesis-profile=default``."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it for what runs behind
    signal.signal(signal.SIGINT, signal.default_int_handler)
"""The tests interrupt programs, and those begin with what this one has."""


def pytest_collection_finish() -> None:
    """Thousands of tests and all that they import stay: nobody need look for rubbish in them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def live_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server with the embedded voice, shared by all tests that leave it as it was."""
    server = start(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def tone_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server with the weightless runner, shared."""
    server = start(tmp_path_factory.mktemp("tone"), engine__runner="tone")
    yield server
    server.stop()


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[StartServer]:
    """Start servers with settings of the test's own; they end with the test."""
    servers: list[LiveServer] = []

    def begin(**settings: object) -> LiveServer:
        servers.append(start(tmp_path, **settings))
        return servers[-1]

    yield begin
    for server in servers:
        server.stop()
