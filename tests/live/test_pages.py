"""The files a browser is given, over real HTTP."""

from __future__ import annotations

import urllib.request

import pytest
from servers import LiveServer


def _head(url: str) -> dict[str, str]:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return {name.lower(): value for name, value in answer.headers.items()}


def test_the_page_may_load_nothing_from_elsewhere(tone_server: LiveServer) -> None:
    policy = _head(tone_server.url + "/")["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-inline" not in policy


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/sdk/index.js", "text/javascript"),
        ("/sdk/opus-decoder.wasm", "application/wasm"),
    ],
)
def test_each_file_has_its_type(tone_server: LiveServer, path: str, kind: str) -> None:
    headers = _head(tone_server.url + path)
    assert headers["content-type"].startswith(kind)
    assert headers["x-content-type-options"] == "nosniff"


def test_pages_of_other_origins_may_import_the_library(tone_server: LiveServer) -> None:
    assert _head(tone_server.url + "/sdk/index.js")["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in _head(tone_server.url + "/")
