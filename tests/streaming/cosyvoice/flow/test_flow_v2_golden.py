"""Version 2's flow, computed whole, against the official code's outputs."""

from __future__ import annotations

import json

import pytest

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.v2.module import FlowV2


@pytest.fixture(scope="module")
def case(golden, golden_sizes, golden_fill):
    model = golden_fill(FlowV2(golden_sizes("cosyvoice2").flow))
    named = {
        key.split(".")[2]: value for key, value in golden.items() if key[:15] == "cosyvoice2.flow"
    }
    prompt = FlowPrompt(
        tokens=tuple(named["prompt_token"][0].tolist()),
        mel=named["prompt_feat"][0],
        embedding=named["embedding"][0],
    )
    return model, prompt, named["token"][0].tolist(), named


def test_the_parameters_are_the_official_ones(golden_dir, golden_sizes):
    shapes = json.loads((golden_dir / "state_dict_shapes.json").read_text(encoding="utf-8"))
    ours = FlowV2(golden_sizes("cosyvoice2").flow).state_dict()
    assert {name: list(value.shape) for name, value in ours.items()} == shapes["cosyvoice2.flow"]


@pytest.mark.parametrize("streaming", [False, True])
def test_one_pass_equals_the_official_one(case, streaming):
    model, prompt, tokens, named = case
    mel = model.one_pass(prompt, tokens, streaming=streaming)
    expected = named["mel_streaming" if streaming else "mel_offline"][0].T
    assert (mel - expected).abs().max() < 1e-5
