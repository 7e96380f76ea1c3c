"""Version 2's flow, computed whole, against the official code's outputs."""

from __future__ import annotations

import json

import pytest
import torch

from streaming.cosyvoice.flow.solver import noise_at
from streaming.cosyvoice.flow.v2.module import FlowV2


def test_the_parameters_are_the_official_ones(golden_dir, golden_sizes):
    shapes = json.loads((golden_dir / "state_dict_shapes.json").read_text(encoding="utf-8"))
    ours = FlowV2(golden_sizes("cosyvoice2").flow).state_dict()
    assert {name: list(value.shape) for name, value in ours.items()} == shapes["cosyvoice2.flow"]


def test_the_noise_starts_as_the_official_one(golden_case):
    *_, named = golden_case
    assert torch.equal(noise_at(0, 8), named["rand_noise_head"][0].T)


@pytest.mark.parametrize("streaming", [False, True])
def test_one_pass_equals_the_official_one(golden_case, streaming):
    model, prompt, tokens, named = golden_case
    mel = model.one_pass(prompt, tokens, streaming=streaming)
    expected = named["mel_streaming" if streaming else "mel_offline"][0].T
    assert (mel - expected).abs().max() < 1e-5
