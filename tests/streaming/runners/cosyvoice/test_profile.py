"""What steps cost before any has run."""

import json

import pytest

from streaming.runners.cosyvoice.profile import SMALL_CARD, priors
from streaming.steps import Cost

LINE = {"base_s": 0.002, "unit_s": 0.00001}


def written(tmp_path, **changed):
    path = tmp_path / "card.json"
    costs = dict.fromkeys(("llm", "flow", "vocoder"), LINE) | changed
    path.write_text(json.dumps({"device": "My card", "costs": costs}), encoding="utf-8")
    return str(path)


def test_a_profile_says_what_each_stage_costs(tmp_path):
    found = priors(written(tmp_path, flow={"base_s": 0.0, "unit_s": 0.5}), 0.0)
    assert found == {"llm": Cost(**LINE), "flow": Cost(0.0, 0.5), "vocoder": Cost(**LINE)}


def test_steps_are_planned_as_those_that_look_back_as_far_as_the_window_lets_them(tmp_path):
    path = written(tmp_path, flow={"base_s": 0.002, "unit_s": 0.00001, "look_s": 1e-8})
    exact, wide, narrow = (priors(path, window_s)["flow"] for window_s in (0.0, 30.0, 2.0))
    assert exact == wide == Cost(0.002, pytest.approx(0.000015))  # 10 s
    assert narrow == Cost(0.002, pytest.approx(0.000013))


def test_without_one_it_is_about_a_small_card():
    assert priors(None, 2.0) is SMALL_CARD


@pytest.mark.parametrize(
    "flow",
    [
        None,
        {"base_s": -1.0},
        {"base_s": "x"},
        {"look_s": -1e-9},
        {"base_s": float("inf")},
        {"base_s": float("nan")},
        {"base_s": 0.0, "unit_s": 0.0},
        {"seconds": 1},
    ],
)
def test_what_is_no_table_is_refused_by_its_name(tmp_path, flow):
    with pytest.raises(ValueError, match=r"card\.json is no table"):
        priors(written(tmp_path, flow=flow), 2.0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"costs": 3}', "[" * 100_000])
def test_so_is_what_is_none_at_all(tmp_path, text):
    path = tmp_path / "card.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="is no table"):
        priors(str(path), 2.0)


def test_what_a_file_holds_that_is_no_text_is_not_told(tmp_path):
    path = tmp_path / "card.json"
    path.write_bytes(b"\xff" * 10_000)
    with pytest.raises(ValueError, match="is no table") as refused:
        priors(str(path), 2.0)
    assert len(str(refused.value)) < 300


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        priors(str(tmp_path / "card.json"), 2.0)
