"""The load generator against the real server: its figures agree with the server's own."""

from __future__ import annotations

import json
import socket

import pytest

from benchmarks.load.__main__ import main


def load(server, capsys, *arguments):
    code = main(["--url", server.url, "--sessions", "3", "--seconds", "3", "--json", *arguments])
    assert code == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("codec", ["opus", "pcm_s16le"])
def test_three_talk_without_pause_and_without_errors(live_server, capsys, codec):
    found = load(live_server, capsys, "--codec", codec)
    assert found["errors"] == {}
    assert found["contexts"] >= 3
    assert found["c100"] is not None
    assert found["ttfa_ms"]["p50"] > found["first_packet_ms"]["p50"] > 0
    assert found["server"]["cpu_cores"] > 0
    assert found["server"]["rss_mib"] > 50


def test_its_first_packet_is_the_servers_own_and_a_little_more(live_server, capsys):
    found = load(live_server, capsys, "--text-mode", "llm", "--burst")
    apart_ms = found["first_packet_ms"]["p50"] - found["server_first_packet_ms"]["p50"]
    assert found["errors"] == {}
    assert -5 < apart_ms < 1000


def test_interrupted_contexts_fall_silent_at_once(live_server, capsys):
    found = load(live_server, capsys, "--barge-in", "1", "--burst")
    assert found["errors"] == {}
    assert found["outcomes"]["cancelled"] >= 1
    assert found["cancel_ms"]["p95"] < 2000


def test_without_a_server_it_says_so_and_how_to_start_one(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert main(["--url", url]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"No server answers at {url}: `make serve` starts one")
