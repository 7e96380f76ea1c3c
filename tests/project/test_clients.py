"""The clients let one ask for all that the protocol has."""

from __future__ import annotations

import re
from pathlib import Path

from server import requests

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = (ROOT / "clients" / "web" / "src" / "options.ts").read_text(encoding="utf-8")
ITS_OWN = {"ctx", "timestamps", "levels"}
"""The browser client names its contexts, always asks for words, and measures loudness itself."""


def test_the_browser_client_has_every_option_of_a_context() -> None:
    names = set(re.findall(r'^  \w+: "(\w+)",$', OPTIONS, re.MULTILINE))
    assert names == set(requests.Open.__struct_fields__) - ITS_OWN


def test_its_read_me_names_them_all() -> None:
    read_me = (ROOT / "clients" / "web" / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r'^  (\w+): "\w+",$', OPTIONS, re.MULTILINE):
        assert f"`{name}`" in read_me
