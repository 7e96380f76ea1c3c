"""The body over slots, piece by piece, against the same network written down plainly."""

from __future__ import annotations

import pytest
import torch
from tiny_llms import TinyLlm
from torch import Tensor
from torch.nn.functional import rms_norm, silu

from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.sampler import Draw
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation

PROMPT = LlmPrompt((END_OF_PROMPT, *range(17)), tuple(range(30)))
TEXT, MADE = range(40, 52), list(range(900, 912))


@pytest.mark.parametrize("piece", [1, 3, 9, 20, 256])
@pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
def test_logits_piece_by_piece_are_those_of_one_pass(
    generation: Generation, piece: int, tiny_llm: TinyLlm
) -> None:
    model = tiny_llm(generation)
    heard: list[Tensor] = []

    def forced(logits: Tensor, _history: Tensor, draw: Draw) -> Tensor:
        heard.append(logits[0].clone())
        return torch.full_like(draw.slots, MADE[len(heard) - 1])

    decoder = Decoder(model, slots=3, positions=100, prefill_tokens=piece, sampler=forced)
    decoding = decoder.begin(PROMPT, TEXT, seed=0, segment=0)
    while len(heard) < len(MADE):
        decoder.step([decoding])
    ids = model.ids
    codes = (ids.sos, *ids.text((*PROMPT.text, *TEXT)), ids.task, *PROMPT.speech, *MADE[:-1])
    wanted = _one_pass(model, codes)[-len(MADE) :]
    torch.testing.assert_close(torch.stack(heard), wanted, atol=1e-4, rtol=0)


def _one_pass(model: SpeechLlm, codes: tuple[int, ...]) -> Tensor:
    """Logits (T, rows of the head) after each code: full matrices, no cache."""
    x = model.embed(torch.tensor(codes))
    for layer in model.body.layers:
        x = x + _attended(layer.self_attn, _normed(layer.input_layernorm, x), model)
        wide = _normed(layer.post_attention_layernorm, x)
        feed = layer.mlp
        x = x + feed.down_proj(silu(feed.gate_proj(wide)) * feed.up_proj(wide))
    logits: Tensor = model.llm_decoder(_normed(model.body.norm, x))
    return logits


def _normed(norm: torch.nn.Module, x: Tensor) -> Tensor:
    return rms_norm(x, norm.weight.shape, norm.weight, 1e-6)


def _attended(attention: torch.nn.Module, x: Tensor, model: SpeechLlm) -> Tensor:
    sizes, count = model.sizes, len(x)
    size = sizes.hidden // sizes.heads
    query, keys, values = (
        part(x).view(count, -1, size).transpose(0, 1)
        for part in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    shared = sizes.heads // sizes.kv_heads
    keys = _turned(keys, sizes.rope_theta).repeat_interleave(shared, dim=0)
    score = _turned(query, sizes.rope_theta) @ keys.transpose(1, 2) / size**0.5
    later = torch.ones(count, count, dtype=torch.bool).triu(1)
    weights = score.masked_fill(later, -torch.inf).softmax(dim=-1)
    made = weights @ values.repeat_interleave(shared, dim=0)
    out: Tensor = attention.o_proj(made.transpose(0, 1).flatten(1))
    return out


def _turned(x: Tensor, theta: float) -> Tensor:
    """Pairs (i, i + size / 2) as complex numbers, turned by position."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[1])[:, None] * theta ** (-torch.arange(half) / half)
    pairs = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones(()), angles)
    return torch.cat([pairs.real, pairs.imag], dim=-1)
