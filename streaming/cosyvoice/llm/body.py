"""Qwen2's transformer, with the official parameter names, over packed tokens and kept K/V.

Weights may be in half precision; kept in float32 are the residual stream, the norms, the rotary
embedding, the softmax and the feed-forward's product. Source: Qwen2's published architecture
(RMS norm, rotary halves, grouped queries with biases, SwiGLU without).
Does not know: ids, slots' owners, sampling.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, rms_norm, silu

from streaming.cosyvoice.compiling import Compile, Pure
from streaming.cosyvoice.llm.attention import Reads, attend
from streaming.cosyvoice.llm.cache import KvCache
from streaming.cosyvoice.sizes import LlmSizes

_HALF_SCALE = 2.0**-4
"""float16 ends at 65,504 and Qwen2's feed-forward has been seen beyond: its product goes through
the last matrix scaled by this. A power of two costs no precision."""


def normed(x: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
    """Root-mean-square norm, in float32, then as ``dtype``."""
    return rms_norm(x, weight.shape, weight.float(), eps).to(dtype)


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """(N, heads, size) turned by each token's position."""
    wide = x.float()
    left, right = wide.chunk(2, dim=-1)
    other = torch.cat((-right, left), dim=-1)
    return (wide * cos + other * sin).to(x.dtype)


def gated(both: Tensor) -> Tensor:
    """SwiGLU's product of gate and up (N, 2 x size) to (N, size); in float16 scaled down."""
    gate, up = both.chunk(2, dim=-1)
    product = silu(gate.float()) * up
    if both.dtype != torch.float16:
        return product.to(both.dtype)
    limit = torch.finfo(torch.float16).max
    return (product * _HALF_SCALE).clamp(-limit, limit).half()


class RmsNorm(nn.Module):
    """Root-mean-square norm, in float32."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps
        self.normed: Pure = normed

    def forward(self, x: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        """(N, size) float32 to the same as ``dtype``."""
        return self.normed(x, self.weight, self.eps, dtype)


class Attention(nn.Module):
    """Grouped-query self-attention over the cache."""

    def __init__(self, sizes: LlmSizes) -> None:
        super().__init__()
        self.size = sizes.hidden // sizes.heads
        self.q_proj = nn.Linear(sizes.hidden, sizes.heads * self.size)
        self.k_proj = nn.Linear(sizes.hidden, sizes.kv_heads * self.size)
        self.v_proj = nn.Linear(sizes.hidden, sizes.kv_heads * self.size)
        self.o_proj = nn.Linear(sizes.heads * self.size, sizes.hidden, bias=False)
        self._heads, self._kv_heads = sizes.heads, sizes.kv_heads
        self.turned: Pure = turned
        self.join()

    def join(self) -> None:
        """Lay the three matrices side by side: on a GPU two launches less."""
        parts = (self.q_proj, self.k_proj, self.v_proj)
        self._weight = joined([part.weight for part in parts])
        self._bias = joined([part.bias for part in parts])

    def forward(self, x: Tensor, place: Place, layer: int) -> Tensor:
        """(N, hidden) of the weights' dtype to the same."""
        made = linear(x, self._weight, self._bias).view(len(x), -1, self.size)
        both = self.turned(made[:, : -self._kv_heads], place.cos, place.sin)
        query, keys = both[:, : self._heads], both[:, self._heads :]
        values = made[:, -self._kv_heads :]
        place.cache.write(layer, place.slots, place.write_at, keys, values)
        made = attend(query, layer, place.cache, place.reads)
        out: Tensor = self.o_proj(made.flatten(1))
        return out


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self, sizes: LlmSizes) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(sizes.hidden, sizes.feed_forward, bias=False)
        self.up_proj = nn.Linear(sizes.hidden, sizes.feed_forward, bias=False)
        self.down_proj = nn.Linear(sizes.feed_forward, sizes.hidden, bias=False)
        self.gated: Pure = gated
        self.join()

    def join(self) -> None:
        """Lay the two first matrices side by side."""
        self._weight = joined([self.gate_proj.weight, self.up_proj.weight])

    def forward(self, x: Tensor) -> Tensor:
        """(N, hidden) of the weights' dtype to (N, hidden) float32."""
        product = self.gated(linear(x, self._weight))
        made = linear(product, self.down_proj.weight).float()
        return made / _HALF_SCALE if x.dtype == torch.float16 else made


class Layer(nn.Module):
    """One block."""

    def __init__(self, sizes: LlmSizes) -> None:
        super().__init__()
        self.self_attn = Attention(sizes)
        self.mlp = FeedForward(sizes)
        self.input_layernorm = RmsNorm(sizes.hidden, sizes.rms_eps)
        self.post_attention_layernorm = RmsNorm(sizes.hidden, sizes.rms_eps)

    def forward(self, x: Tensor, place: Place, layer: int) -> Tensor:
        """(N, hidden) float32 to the same."""
        dtype = self.self_attn.q_proj.weight.dtype
        x = x + self.self_attn(self.input_layernorm(x, dtype), place, layer).float()
        made: Tensor = self.mlp(self.post_attention_layernorm(x, dtype))
        return x + made


class Qwen2Body(nn.Module):
    """Embedding, blocks, last norm. ``join`` after its weights moved."""

    def __init__(self, sizes: LlmSizes) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(sizes.vocab, sizes.hidden)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.norm = RmsNorm(sizes.hidden, sizes.rms_eps)

    def join(self) -> None:
        """Let each block's joined matrices be those of its weights."""
        for part in self.modules():
            if isinstance(part, Attention | FeedForward):
                part.join()

    def compile_parts(self, compiled: Compile) -> None:
        """What lies between the products goes through what ``compiled`` makes of it."""
        norm, turn, gate = compiled(normed), compiled(turned), compiled(gated)
        for part in self.modules():
            if isinstance(part, RmsNorm):
                part.normed = norm
            elif isinstance(part, Attention):
                part.turned = turn
            elif isinstance(part, FeedForward):
                part.gated = gate

    def forward(self, x: Tensor, place: Place) -> Tensor:
        """(N, hidden) embeddings to (N, hidden) float32."""
        x = x.float()
        for index, layer in enumerate(self.layers):
            x = layer(x, place, index)
        out: Tensor = self.norm(x)
        return out


class Place:
    """Where packed tokens stand: their slots and positions, and what each may look at."""

    def __init__(
        self,
        cache: KvCache,
        reads: Reads,
        slots: Tensor,
        write_at: Tensor,
        rotary: tuple[Tensor, Tensor],
    ) -> None:
        self.cache = cache
        self.reads = reads
        self.slots = slots
        self.write_at = write_at
        self.cos, self.sin = rotary


def joined(weights: list[Tensor]) -> Tensor:
    """One tensor that holds them all; each goes on as a view of its part, under its own name.

    To be made anew whenever the weights' tensors are replaced (not: written into).
    """
    whole = torch.cat([weight.data for weight in weights])
    begin = 0
    for weight in weights:
        weight.data = whole[begin : begin + len(weight)]
        begin += len(weight)
    return whole


def rotary_table(size: int, theta: float, positions: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines, (positions, 1, size) float32; both halves turn alike."""
    rates = theta ** -(torch.arange(0, size, 2, dtype=torch.float32) / size)
    angles = torch.arange(positions, dtype=torch.float32)[:, None] * rates
    wide = torch.cat((angles, angles), dim=-1)[:, None]
    return wide.cos(), wide.sin()
