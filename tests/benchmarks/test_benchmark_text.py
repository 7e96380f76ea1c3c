import json
import sys

from benchmarks import text


def test_one_json_object_with_every_figure(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["text", "--json"])

    text.main()

    (line,) = capsys.readouterr().out.splitlines()
    report = json.loads(line)
    assert set(report) == set(text.Report.__dataclass_fields__)
    assert 0 < report["english_segment_median_ms"] <= report["english_segment_worst_ms"]


def test_a_line_a_figure_for_people(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["text"])

    text.main()

    assert len(capsys.readouterr().out.splitlines()) == len(text.Report.__dataclass_fields__)
