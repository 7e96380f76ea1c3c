"""Load as a share of what a server says that it can serve."""

from __future__ import annotations

import json

import pytest

from benchmarks.load import told
from benchmarks.load.__main__ import main


def test_sessions_are_a_share_of_the_servers_capacity_and_those_past_it_are_refused(
    start_server, capsys
):
    server = start_server(engine__runner="tone", engine__capacity=3)
    arguments = ["--url", server.url, "--seconds", "3", "--burst", "--codec", "pcm_s16le"]
    assert main([*arguments, "--of-capacity", "2", "--warm-up-s", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sessions"] == 6
    assert found["capacity"] == {"before": {"all": 3}, "after": {"all": 3}}
    assert found["refused"] >= 3
    assert set(found["errors"]) == {"overloaded"}
    assert found["contexts"] >= 3


def test_a_server_that_does_not_tell_its_capacity_cannot_be_loaded_by_a_share_of_it(
    tone_server, monkeypatch
):
    assert told.capacity(tone_server.url) == {"all": 60_000}
    assert told.capacity("http://127.0.0.1:9") == {}
    monkeypatch.setattr(told, "capacity", lambda _url: {})  # an older server
    with pytest.raises(SystemExit, match="--of-capacity"):
        main(["--url", tone_server.url, "--of-capacity", "2", "--warm-up-s", "0.1"])


def test_where_no_server_answers_that_is_said(capsys):
    assert main(["--url", "http://127.0.0.1:9"]) == 2
    assert "No server answers at http://127.0.0.1:9" in capsys.readouterr().err
