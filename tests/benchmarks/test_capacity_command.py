"""``python -m benchmarks.capacity`` at a small size: the real scheduler in simulated time."""

import json
import xml.etree.ElementTree as ET
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import pytest

from benchmarks.capacity.__main__ import main
from benchmarks.capacity.device import ESTIMATES, measured
from benchmarks.capacity.simulate import Run, capacity_of, simulate
from benchmarks.capacity.traffic import Load

SMALL = ["--offered", "2,6", "--seconds", "4", "--processes", "1"]
KEYS = {
    "device", "policy", "window_s", "offered_contexts", "admitted", "refused", "first_packet_ms",
    "c100", "device_use",
}  # fmt: skip


def in_this_process():
    """To start another takes longer than to simulate what most of these ask for."""
    return mock.patch.object(ProcessPoolExecutor, "map", lambda _pool, call, runs: map(call, runs))


def rows(capsys, *options):
    with in_this_process():
        assert main([*SMALL, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]


def found(
    offered, *, device="4090", policy="deadline", arrivals="poisson", seconds=10.0, window_s=2.0
):
    load = Load(offered, arrivals=arrivals, seconds=seconds)
    return simulate(Run(ESTIMATES[device], policy, load, window_s=window_s))


def test_the_last_line_is_one_object_and_the_rows_go_to_standard_error(capsys):
    with in_this_process():
        assert main([*SMALL, "--window-s", "3", "--json"]) == 0
    said = capsys.readouterr()
    (line,) = said.out.splitlines()
    assert sum(line.startswith("| H200") for line in said.err.splitlines()) == 4 * 2
    made = json.loads(line)["rows"]
    assert len(made) == 4 * 2
    assert {row["policy"] for row in made} == {"deadline", "fifo", "earliest-arrival", "voxserve"}
    for row in made:
        assert set(row) == KEYS
        assert set(row["first_packet_ms"]) == {"p50", "p95", "p99"}
        assert row["device"] == "H200 (not measured)"
        assert row["window_s"] == 3.0
        assert row["admitted"] > 0


def test_people_get_a_table_that_says_what_was_not_measured(capsys):
    assert main([*SMALL, "--policies", "deadline", "--devices", "L4,4090"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 2 * 2
    assert all("not measured" in line for line in lines[2:])


def test_each_row_is_told_as_soon_as_it_is_there(capsys, monkeypatch):
    told = []

    def one_after_another(_pool, call, runs):
        for run in runs:
            told.append(len(capsys.readouterr().out.splitlines()))
            yield call(run)

    monkeypatch.setattr(ProcessPoolExecutor, "map", one_after_another)
    assert main([*SMALL, "--policies", "deadline"]) == 0
    assert told == [2, 1]
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_nobody_knows_is_refused_in_words(capsys):
    for options, word in (
        (["--devices", "H900"], "H900"),
        (["--policies", "luck"], "luck"),
        (["--loads", "0"], "above 0"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main(options)
        assert stopped.value.code == 2
        assert word in capsys.readouterr().err


def test_pictures_are_drawn_one_a_device(capsys, tmp_path):
    path = tmp_path / "cards.svg"
    rows(capsys, "--plot", str(path), "--devices", "L4,4090", "--policies", "deadline,fifo")
    for name in ("l4", "4090"):
        drawn = (tmp_path / f"cards-{name}.svg").read_text(encoding="utf-8")
        assert len(ET.fromstring(drawn).findall(".//{*}polyline")) == 6 * 2
        assert "not measured" in drawn


def test_a_measured_table_is_a_device(capsys, tmp_path):
    path = tmp_path / "table.json"
    costs = {stage: {"base_s": 0.002, "unit_s": 0.00001} for stage in ("llm", "flow", "vocoder")}
    path.write_text(json.dumps({"device": "My card", "costs": costs}), encoding="utf-8")
    device = measured(path)
    assert (device.label, device.llm.of(2)) == ("My card", pytest.approx(0.00202))
    made = rows(capsys, "--devices", str(path), "--policies", "deadline")
    assert [row["device"] for row in made] == ["My card"] * 2
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="no table"):
        measured(path)


def test_a_better_card_costs_less_and_carries_more():
    for stage in ("llm", "flow", "vocoder"):
        assert ESTIMATES["H200"].costs[stage].of(100) < ESTIMATES["L4"].costs[stage].of(100)
    carried = [capacity_of(ESTIMATES[name]) for name in ("3060", "L4", "4090", "A100", "H200")]
    assert carried == sorted(set(carried))


def test_a_step_costs_more_the_further_it_looks_back():
    for cost in (ESTIMATES["H200"].llm, ESTIMATES["H200"].flow):
        assert cost.of(8, 8 * 900) > cost.of(8, 8 * 300) > cost.of(8)
    used = [found(12, window_s=window_s, seconds=5.0).device_use for window_s in (1.0, 0.0)]
    assert used[0] < used[1]
    carried = [capacity_of(ESTIMATES["H200"], window_s) for window_s in (2.0, 0.0)]
    assert carried[0] > carried[1]


@pytest.mark.parametrize("arrivals", ["poisson", "bursts", "conversations"])
def test_the_same_load_gives_the_same_figures(arrivals):
    first, second = (found(20, arrivals=arrivals, seconds=1.0) for _ in range(2))
    assert first == second


def test_a_light_load_has_no_gap_and_begins_at_once():
    row = found(3)
    assert (row.c100, row.refused) == (1.0, 0)
    assert row.first_packet_ms["p99"] < 200


@pytest.mark.parametrize("arrivals", ["poisson", "bursts", "conversations"])
def test_at_twice_the_capacity_those_let_in_have_no_gap(arrivals):
    row = found(2 * capacity_of(ESTIMATES["4090"]), arrivals=arrivals)
    assert row.refused > row.admitted / 4
    assert row.c100 >= 0.999


def test_conversations_say_how_many_are_held():
    row = found(10, arrivals="conversations", seconds=5.0)
    assert 14 < row.sessions < 18  # each is silent for 4 s of 11
    assert found(10, seconds=5.0).sessions is None


def test_the_policy_pays():
    """Each rule of the field at the same load, which the card can carry."""
    ours, *others = (
        found(24, policy=policy, seconds=20.0)
        for policy in ("deadline", "fifo", "earliest-arrival", "voxserve")
    )
    for row in others:
        assert ours.first_packet_ms["p50"] < 0.8 * row.first_packet_ms["p50"]
        assert ours.first_packet_ms["p95"] < 0.7 * row.first_packet_ms["p95"]
        assert ours.device_use < row.device_use - 0.1
        assert ours.c100 >= row.c100
        assert ours.refused <= row.refused
