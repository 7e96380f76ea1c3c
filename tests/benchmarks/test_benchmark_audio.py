import json
import sys

import pytest

from benchmarks import audio


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(audio, "TEXT", "A short sentence will do.")
    monkeypatch.setattr(audio, "_ROUNDS", 1)


def test_one_json_object_with_every_figure(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["audio", "--json"])

    audio.main()

    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert set(figures["us_per_80_ms_packet"]) == set(audio.FORMATS)
    assert set(figures["us_per_80_ms"]) == {"joiner", "levels", "wav", "ogg opus", "mp3"}
    assert min(figures["opus_frames_per_s"].values()) > 100


def test_a_table_for_people(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["audio"])

    audio.main()

    table = capsys.readouterr().out
    assert "opus_frames_per_s" in table
    assert "mu-law 8 kHz" in table
