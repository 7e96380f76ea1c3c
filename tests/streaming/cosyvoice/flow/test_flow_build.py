"""A flow out of a checkpoint's numbers."""

from __future__ import annotations

import pytest
import torch

from streaming.cosyvoice import tiny as tiny_checkpoint
from streaming.cosyvoice.flow import build

OPTIONS = {"device": torch.device("cpu"), "budget_bytes": 2**26}


@pytest.mark.parametrize("generation", ["cosyvoice3", "cosyvoice2"])
@pytest.mark.parametrize("published", [torch.float32, torch.float16], ids=str)
def test_it_speaks_in_either_generation(make_prompt, make_tokens, finish, generation, published):
    sizes = tiny_checkpoint.sizes(generation, "tiny").flow
    model = build.module(sizes)
    state = {name: value.to(published) for name, value in model.state_dict().items()}
    flow = build.flow(sizes, state, dtype=torch.float32, **OPTIONS)
    hop = flow.start(flow.begin(flow.voice(make_prompt(30))), make_tokens(9), last=True)
    mel = finish(flow, hop).mel
    whole = build.module(sizes)
    whole.load_state_dict(state)
    expected = whole.one_pass(make_prompt(30), make_tokens(9), streaming=True)
    assert (mel - expected).abs().max() < 1e-5


def test_another_generations_weights_are_refused():
    sizes = {g: tiny_checkpoint.sizes(g, "tiny").flow for g in ("cosyvoice3", "cosyvoice2")}
    state = build.module(sizes["cosyvoice2"]).state_dict()
    with pytest.raises(RuntimeError, match="Missing key"):
        build.flow(sizes["cosyvoice3"], state, dtype=torch.float32, **OPTIONS)
