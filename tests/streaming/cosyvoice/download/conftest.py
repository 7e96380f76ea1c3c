"""A hub of the test's own, which the command takes for both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hub_server import HubServer, serving


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", server.url + "/")
        yield server
