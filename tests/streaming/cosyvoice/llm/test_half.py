"""Half precision: how far from float32, and where it would break."""

from __future__ import annotations

import pytest
import torch
from tiny_llms import random_llm
from torch import Tensor

from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.sampler import Draw
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT

HALVES = [torch.bfloat16, torch.float16]
PROMPT = LlmPrompt((END_OF_PROMPT, 5, 6), tuple(range(20)))


def logits(model: SpeechLlm) -> Tensor:
    """Before each of 12 forced tokens, (12, rows of the head)."""
    heard: list[Tensor] = []

    def forced(logits: Tensor, _history: Tensor, draw: Draw) -> Tensor:
        heard.append(logits[0].clone())
        return torch.full_like(draw.slots, 500 + len(heard))

    decoder = Decoder(model, slots=2, positions=64, prefill_tokens=12, sampler=forced)
    decoding = decoder.begin(PROMPT, range(8), seed=0, segment=0)
    while len(heard) < 12:
        decoder.step([decoding])
    return torch.stack(heard)


@pytest.mark.parametrize(("dtype", "bar"), [(torch.bfloat16, 0.05), (torch.float16, 0.006)])
def test_logits_are_near_those_of_float32(dtype: torch.dtype, bar: float) -> None:
    exact = logits(random_llm("cosyvoice3"))
    made = logits(random_llm("cosyvoice3").to(dtype))
    assert made.dtype == torch.float32
    # Root mean square error against the logits' own spread.
    assert float((made - exact).square().mean().sqrt() / exact.std()) < bar


@pytest.mark.parametrize("dtype", HALVES)
def test_activations_beyond_float16_stay_finite_and_right(dtype: torch.dtype) -> None:
    """A feed-forward product of about 200,000 in one place, and a residual as large."""

    def swollen() -> SpeechLlm:
        model = random_llm("cosyvoice3")
        with torch.no_grad():
            feed_forward = model.body.layers[0].mlp
            feed_forward.gate_proj.weight[0] *= 200
            feed_forward.up_proj.weight[0] *= 200
        return model

    exact_model = swollen()
    products = _watch_products(exact_model)
    exact = logits(exact_model)
    assert max(products) > 2 * torch.finfo(torch.float16).max
    made = logits(swollen().to(dtype))
    assert bool(made.isfinite().all())
    assert float((made - exact).square().mean().sqrt() / exact.std()) < 0.1


@pytest.mark.parametrize("dtype", HALVES)
def test_norms_and_head_are_kept_in_float32_and_the_rest_is_not(dtype: torch.dtype) -> None:
    model = random_llm("cosyvoice3").to(dtype)
    decoder = Decoder(model, slots=1, positions=16)
    kept = {name for name, weight in model.named_parameters() if weight.dtype == torch.float32}
    assert kept == {
        "llm_decoder.weight",
        "llm.model.model.norm.weight",
        *(
            f"llm.model.model.layers.{layer}.{norm}.weight"
            for layer in range(2)
            for norm in ("input_layernorm", "post_attention_layernorm")
        ),
    }
    assert decoder.cache.keys.dtype == dtype


@pytest.mark.parametrize("dtype", HALVES)
def test_the_same_seed_gives_the_same_tokens_in_the_same_company(dtype: torch.dtype) -> None:
    model = random_llm("cosyvoice2").to(dtype)
    spoken = []
    for _ in range(2):
        decoder = Decoder(model, slots=3, positions=100)
        three = [decoder.begin(PROMPT, (1, 2), seed=seed, segment=0) for seed in (1, 1, 2)]
        while any(one.wants for one in three):
            decoder.step(three)
        spoken.append([one.tokens for one in three])
    assert spoken[0] == spoken[1]
    assert spoken[0][0] == spoken[0][1] != spoken[0][2]


def _watch_products(model: SpeechLlm) -> list[float]:
    """The largest of gate times up, of each forward of the first layer."""
    feed_forward, largest = model.body.layers[0].mlp, []

    def watch(_module: object, given: tuple[Tensor]) -> None:
        gate, up = feed_forward.gate_proj(given[0]), feed_forward.up_proj(given[0])
        largest.append(float((torch.nn.functional.silu(gate) * up).abs().max()))

    feed_forward.register_forward_pre_hook(watch)
    return largest
