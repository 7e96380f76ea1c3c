"""``python -m benchmarks.capacity`` at a small size: the real scheduler in simulated time."""

import json
import xml.etree.ElementTree as ET

import pytest

from benchmarks.capacity.__main__ import main
from benchmarks.capacity.device import ESTIMATES, measured

SMALL = ["--offered", "2,6", "--seconds", "6"]


def rows(capsys, *options):
    assert main([*SMALL, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]


def test_it_prints_one_object_with_a_row_a_policy_and_load(capsys):
    found = rows(capsys, "--devices", "H200")
    assert len(found) == 4 * 2
    assert {row["policy"] for row in found} == {"deadline", "fifo", "earliest-arrival", "voxserve"}
    for row in found:
        assert {
            "device", "policy", "offered_contexts", "admitted", "refused", "first_packet_ms",
            "c100", "device_use",
        } <= row.keys()  # fmt: skip
        assert set(row["first_packet_ms"]) == {"p50", "p95", "p99"}
        assert row["measured"] is False
        assert row["admitted"] > 0


def test_a_light_load_on_a_large_card_has_no_gap_and_begins_at_once(capsys):
    (row,) = rows(capsys, "--offered", "3", "--policies", "deadline")
    assert row["c100"] == 1.0
    assert row["first_packet_ms"]["p99"] < 200
    assert row["refused"] == 0


@pytest.mark.parametrize("arrivals", ["poisson", "bursts", "conversations"])
def test_the_same_load_gives_the_same_figures(capsys, arrivals):
    options = ["--arrivals", arrivals, "--policies", "deadline"]
    assert rows(capsys, *options) == rows(capsys, *options)


def test_people_get_a_table_that_says_what_is_an_estimate(capsys):
    assert main([*SMALL, "--policies", "deadline"]) == 0
    out = capsys.readouterr().out
    assert "H200 (estimate)" in out
    assert "C100" in out


def test_a_picture_is_drawn(capsys, tmp_path):
    path = tmp_path / "capacity.svg"
    rows(capsys, "--plot", str(path), "--policies", "deadline,fifo")
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    assert len(root.findall(".//{*}polyline")) == 5 * 2
    assert "not measured" in path.read_text(encoding="utf-8")


def test_what_nobody_knows_is_refused_in_words(capsys):
    assert main(["--devices", "H900"]) == 2
    assert "H900" in capsys.readouterr().err
    assert main(["--policies", "luck"]) == 2
    assert "luck" in capsys.readouterr().err


def test_a_measured_table_is_a_device(tmp_path):
    path = tmp_path / "table.json"
    costs = {stage: {"base_s": 0.01, "unit_s": 0.001} for stage in ("llm", "flow", "vocoder")}
    path.write_text(json.dumps({"device": "My card", "costs": costs}), encoding="utf-8")
    device = measured(path)
    assert (device.name, device.measured, device.llm.of(2)) == ("My card", True, 0.012)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="no table"):
        measured(path)


def test_a_better_card_costs_less():
    for stage in ("llm", "flow", "vocoder"):
        assert ESTIMATES["H200"].costs[stage].of(100) < ESTIMATES["L4"].costs[stage].of(100)
