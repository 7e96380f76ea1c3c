"""The script that says what a window and a capped prompt cost in exactness."""

from __future__ import annotations

import json

import pytest

from benchmarks import flow_window


def test_each_setting_is_compared_with_the_exact_one(make_flow, make_prompt, make_tokens):
    flow = make_flow(pages=60)
    found = list(
        flow_window.differences(flow, make_prompt(92), make_tokens(150), (1.0, 3.0), (2.0,))
    )
    settings = [(one.prompt_s, one.window_s) for one in found]
    assert settings == [(None, None), (None, 1), (None, 3), (2, None), (2, 1), (2, 3)]
    exact, narrow, wide, capped = found[:4]
    assert (exact.mean, exact.worst, exact.relative) == (0, 0, 0)
    assert narrow.mean > wide.mean > 0
    assert narrow.worst > narrow.mean
    assert narrow.context_bytes < wide.context_bytes < exact.context_bytes
    assert narrow.voice_bytes == exact.voice_bytes > capped.voice_bytes


@pytest.mark.parametrize("generation", ["cosyvoice3", "cosyvoice2"])
def test_it_runs_without_a_checkpoint_and_ends_with_json(capsys, generation):
    flow_window.main(
        ["--size", "tiny", "--generation", generation, "--seconds", "3.5", "--windows", "1"]
    )
    *lines, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)
    assert len(lines) == len(found) == 6
    assert lines[0].startswith("window whole s, prompt whole s: mean 0.0000")
    assert lines[1].startswith("window 1.0 s, prompt whole s: mean")
    assert found[1]["mean"] > 0
