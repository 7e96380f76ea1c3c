"""The network's codes, and how a checkpoint comes into it."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from tiny_llms import TinyLlm, random_llm

from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.sizes import Generation

HEAD = "llm.model.lm_head.weight"
TEXT = "llm.model.model.embed_tokens.weight"


@pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
def test_codes_are_speech_then_text_then_version_2s_signs(
    generation: Generation, tiny_llm: TinyLlm
) -> None:
    model = tiny_llm(generation)
    rows, ids = model.speech_embedding.weight, model.ids
    text = model.body.embed_tokens.weight
    codes = torch.tensor([0, 6560, *ids.text((0, 151935)), ids.sos, ids.task])
    made = model.embed(codes)
    signs = (rows[6561], rows[6563]) if model.llm_embedding is None else model.llm_embedding.weight
    wanted = torch.stack([rows[0], rows[6560], text[0], text[151935], *signs])
    assert torch.equal(made, wanted)


def test_a_checkpoint_loads_strictly(tiny_llm: TinyLlm) -> None:
    state = tiny_llm("cosyvoice3").state_dict()
    fresh = SpeechLlm(tiny_llm("cosyvoice3").sizes)
    fresh.load_state_dict(state, strict=True)
    with pytest.raises(RuntimeError, match="llm_embedding"):
        SpeechLlm(tiny_llm("cosyvoice2").sizes).load_state_dict(state, strict=True)


@pytest.mark.parametrize("assign", [False, True])
def test_text_embedding_and_unused_head_are_one_tensor(assign: bool) -> None:
    state = random_llm("cosyvoice3").state_dict()
    state = {name: value.clone() for name, value in state.items()}
    state[HEAD] += 1
    with torch.device("meta" if assign else "cpu"):
        model = SpeechLlm(random_llm("cosyvoice3").sizes)
    model.load_state_dict(state, strict=True, assign=assign)
    loaded = model.state_dict()
    assert loaded[TEXT].data_ptr() == loaded[HEAD].data_ptr()
    assert torch.equal(loaded[TEXT], state[HEAD])


@pytest.mark.parametrize("how", ["written", "loaded", "assigned", "converted", "copied"])
def test_joined_matrices_are_always_those_of_the_weights(how: str) -> None:
    model = random_llm("cosyvoice2")
    state = {name: value + 1 for name, value in model.state_dict().items()}
    if how == "written":
        with torch.no_grad():
            model.body.layers[1].self_attn.k_proj.weight.mul_(3)
    elif how == "converted":
        model = model.to(torch.bfloat16).to(torch.float64)
    elif how == "copied":
        model = deepcopy(model)
    else:
        model.load_state_dict(state, assign=how == "assigned")
    attention, feed_forward = model.body.layers[1].self_attn, model.body.layers[1].mlp
    x = torch.randn(3, 32, dtype=model.dtype)
    for part, whole in (
        (attention.k_proj(x), torch.nn.functional.linear(x, attention._weight, attention._bias)),
        (feed_forward.up_proj(x), torch.nn.functional.linear(x, feed_forward._weight)),
    ):
        size = part.shape[1]
        begin = 32 if size == 16 else size
        torch.testing.assert_close(whole[:, begin : begin + size], part)
