"""Version 3's flow, computed whole, against the official code's outputs."""

from __future__ import annotations

import pytest
import torch

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.solver import noise_at
from streaming.cosyvoice.flow.v3.module import FlowV3


@pytest.fixture(scope="module")
def case(golden, golden_sizes, golden_fill):
    model = golden_fill(FlowV3(golden_sizes("cosyvoice3").flow))
    named = {
        key.split(".")[2]: value for key, value in golden.items() if key[:15] == "cosyvoice3.flow"
    }
    prompt = FlowPrompt(
        tokens=tuple(named["prompt_token"][0].tolist()),
        mel=named["prompt_feat"][0],
        embedding=named["embedding"][0],
    )
    return model, prompt, named["token"][0].tolist(), named


def test_the_noise_starts_as_the_official_one(case):
    *_, named = case
    assert torch.equal(noise_at(0, 8), named["rand_noise_head"][0].T)


@pytest.mark.parametrize("streaming", [False, True])
def test_one_pass_equals_the_official_one(case, streaming):
    model, prompt, tokens, named = case
    mel = model.one_pass(prompt, tokens, streaming=streaming)
    expected = named["mel_streaming" if streaming else "mel_offline"][0].T
    assert (mel - expected).abs().max() < 1e-5
