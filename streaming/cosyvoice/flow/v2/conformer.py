"""Version 2's encoder: tokens to frames, with relative attention before and after the doubling.

Its parameters bear the official names. What lies before a run comes from an :class:`Earlier`, so
that one pass over everything and a run that keeps what it computed go the same way. The sums that
layers add to, and norms, are float32; products run in the precision of their weights.

Knows: the network, one context at a time. Does not know: masks, pages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.flow.lookahead import Lookahead
from streaming.cosyvoice.flow.v2.relative import Distances, Span, attend, biases
from streaming.cosyvoice.flow.v2.sliding import SlidingConv, product
from streaming.cosyvoice.sizes import FRAMES_PER_TOKEN, UnetSizes

NORM_EPS = 1e-12
"""Within layers; the other norms have the usual 1e-5."""

UP_LAYERS = 4
UP_TAPS = 2 * FRAMES_PER_TOKEN + 1
UP_CONTEXT_TOKENS = 2
"""What the doubling's convolution sees before a token."""


class Earlier(Protocol):
    """What lies before a run, at one rate (tokens or frames)."""

    @property
    def start(self) -> int:
        """The run's first position."""
        ...

    @property
    def spans(self) -> Sequence[Span]:
        """Where the keys stand, the run's own the last."""
        ...

    @property
    def hidden(self) -> Tensor | None:
        """(T, keys), True where a query may not look; None: all is seen."""
        ...

    def join(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """(heads, T, head_dim) of the run to (heads, keys, head_dim) of all that is seen."""
        ...


class RelativeAttention(nn.Module):
    """Of several heads; ``pos_bias_u`` weighs what is there, ``pos_bias_v`` how far away it is."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.pos_bias_u = nn.Parameter(torch.zeros(heads, width // heads))
        self.pos_bias_v = nn.Parameter(torch.zeros(heads, width // heads))
        self.linear_q = nn.Linear(width, width)
        self.linear_k = nn.Linear(width, width)
        self.linear_v = nn.Linear(width, width)
        self.linear_out = nn.Linear(width, width)
        self.linear_pos = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, layer: int, earlier: Earlier, distances: Distances) -> Tensor:
        """(T, width) to the same."""
        query, key, value = (
            product(project, x).view(len(x), self.heads, -1).transpose(0, 1)
            for project in (self.linear_q, self.linear_k, self.linear_v)
        )
        key, value = earlier.join(layer, key, value)
        towards = query + self.pos_bias_v[:, None]
        bias = biases(towards, earlier.start, earlier.spans, self.linear_pos, distances)
        bias = bias * query.shape[-1] ** -0.5
        if earlier.hidden is not None:
            bias = bias.masked_fill(earlier.hidden, -torch.inf)
        heard = attend(query + self.pos_bias_u[:, None], key, value, bias)
        return cast("Tensor", self.linear_out(heard.transpose(0, 1).flatten(1)))


class FeedForward(nn.Module):
    """A position by itself."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(width, inner)
        self.w_2 = nn.Linear(inner, width)

    def forward(self, x: Tensor) -> Tensor:
        """(T, width) to the same."""
        return cast("Tensor", self.w_2(F.silu(product(self.w_1, x))))


class Layer(nn.Module):
    """Attention and a feed-forward, each on the norm of what it adds to."""

    def __init__(self, sizes: UnetSizes) -> None:
        super().__init__()
        width = sizes.encoder_dim
        self.self_attn = RelativeAttention(width, sizes.encoder_heads)
        self.feed_forward = FeedForward(width, sizes.encoder_feed_forward)
        self.norm_mha = nn.LayerNorm(width, eps=NORM_EPS)
        self.norm_ff = nn.LayerNorm(width, eps=NORM_EPS)

    def forward(self, x: Tensor, layer: int, earlier: Earlier, distances: Distances) -> Tensor:
        """(T, width) to the same."""
        x = x + self.self_attn(self.norm_mha(x), layer, earlier, distances)
        return cast("Tensor", x + self.feed_forward(self.norm_ff(x)))


class Embed(nn.Module):
    """A linear layer, its norm, and the scale that the official positions expect."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.out = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width))

    def forward(self, x: Tensor) -> Tensor:
        """(T, width) to the same."""
        linear, norm = self.out
        wide = product(cast("nn.Linear", linear), x).float()
        return cast("Tensor", norm(wide) * math.sqrt(x.shape[-1]))


class Doubling(nn.Module):
    """Each token twice, then a convolution over the 4 frames before."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = SlidingConv(width, width, UP_TAPS)

    def forward(self, x: Tensor) -> Tensor:
        """(2 + T, width) to (2 * T, width)."""
        return product(self.conv, x.repeat_interleave(FRAMES_PER_TOKEN, dim=0)[None])[0]


class Conformer(nn.Module):
    """The whole, in the two halves that lie around the doubling's own context."""

    def __init__(self, sizes: UnetSizes) -> None:
        super().__init__()
        width = sizes.encoder_dim
        self.embed = Embed(width)
        self.pre_lookahead_layer = Lookahead(width, width)
        self.encoders = nn.ModuleList(Layer(sizes) for _ in range(sizes.encoder_blocks))
        self.up_layer = Doubling(width)
        self.up_embed = Embed(width)
        self.up_encoders = nn.ModuleList(Layer(sizes) for _ in range(UP_LAYERS))
        self.after_norm = nn.LayerNorm(width)

    def tokens(
        self, x: Tensor, earlier: Earlier, distances: Distances, *, before: int, after: int
    ) -> Tensor:
        """Embedded tokens (before + T + after, width) to (T, width), at the tokens' rate."""
        x = self.pre_lookahead_layer(self.embed(x)[None], before=before, after=after)[0]
        return _through(self.encoders, x, earlier, distances)

    def frames(self, x: Tensor, earlier: Earlier, distances: Distances) -> Tensor:
        """(2 + T, width) of :meth:`tokens`, two from before the run, to (2 * T, width)."""
        x = self.up_embed(self.up_layer(x))
        return cast("Tensor", self.after_norm(_through(self.up_encoders, x, earlier, distances)))


def _through(layers: nn.ModuleList, x: Tensor, earlier: Earlier, distances: Distances) -> Tensor:
    for number, layer in enumerate(layers):
        x = layer(x, number, earlier, distances)
    return x
