"""Our body against transformers' Qwen2, and the official parameter names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tiny_llms import TinyLlm
from torch import Tensor

from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.sampler import Draw
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation, Sizes

transformers = pytest.importorskip(
    "transformers", reason="NOT RUN: parity with transformers' Qwen2 needs transformers"
)
GENERATIONS: tuple[Generation, ...] = ("cosyvoice2", "cosyvoice3")


@pytest.mark.parametrize("generation", GENERATIONS)
def test_hidden_states_equal_transformers(generation: Generation, tiny_llm: TinyLlm) -> None:
    ours = tiny_llm(generation)
    theirs = _transformers(ours)
    text, made = (5, 6, 7, 8, 9), [11, 22, 33, 44]
    heard = _Echo(made)
    decoder = Decoder(ours, slots=2, positions=64, prefill_tokens=4, sampler=heard)
    prompt = LlmPrompt((END_OF_PROMPT, 3), (100, 101))
    decoding = decoder.begin(prompt, text, seed=0, segment=0)
    while len(heard.logits) < len(made):
        decoder.step([decoding])
    codes = (ours.ids.sos, *ours.ids.text((*prompt.text, *text)), ours.ids.task, 100, 101)
    embedded = ours.embed(torch.tensor([*codes, *made[:-1]]))[None]
    hidden = theirs(inputs_embeds=embedded).last_hidden_state[0, len(codes) - 1 :]
    torch.testing.assert_close(
        torch.stack(heard.logits), ours.llm_decoder(hidden), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("generation", GENERATIONS)
def test_names_and_shapes_are_the_official_ones(
    generation: Generation, golden_dir: Path, golden_sizes: Callable[[Generation], Sizes]
) -> None:
    shapes = json.loads((golden_dir / "state_dict_shapes.json").read_text(encoding="utf-8"))
    with torch.device("meta"):
        ours = SpeechLlm(golden_sizes(generation).llm).state_dict()
    assert {name: [*value.shape] for name, value in ours.items()} == shapes[f"{generation}.llm"]


class _Echo:
    def __init__(self, tokens: list[int]) -> None:
        self._tokens = iter(tokens)
        self.logits: list[Tensor] = []

    def __call__(self, logits: Tensor, _history: Tensor, draw: Draw) -> Tensor:
        self.logits.append(logits[0].clone())
        return torch.full_like(draw.slots, next(self._tokens))


def _transformers(ours: SpeechLlm) -> torch.nn.Module:
    sizes = ours.sizes
    config = transformers.Qwen2Config(
        vocab_size=sizes.vocab,
        hidden_size=sizes.hidden,
        intermediate_size=sizes.feed_forward,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.kv_heads,
        rope_theta=sizes.rope_theta,
        rms_norm_eps=sizes.rms_eps,
    )
    with torch.device("meta"):
        theirs = transformers.Qwen2Model(config)
    theirs.to_empty(device="cpu")
    theirs.rotary_emb = type(theirs.rotary_emb)(config)
    theirs.load_state_dict(ours.body.state_dict(), strict=True)
    return theirs.eval()
