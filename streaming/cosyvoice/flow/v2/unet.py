"""Version 2's slope: a causal U-Net of one level, with transformers, over mel frames.

Its parameters bear the official names. Every convolution looks two frames back and every
attention at the blocks before; both ask a :class:`Past` for that, so that one pass over all
frames and a hop that keeps what it computed run the same code. The sums that layers add to, norms
and what a time says are float32; products run in the precision of their weights.

Knows: the network. Does not know: masks, pages, Euler steps, which row is conditioned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.compiling import Compile, Pure
from streaming.cosyvoice.flow.v2.sliding import SlidingConv, product
from streaming.cosyvoice.sizes import MEL_BANDS, UnetSizes

IN_CHANNELS = 4 * MEL_BANDS
"""The state, the encoded tokens, the speaker and the prompt's frames, beside each other."""

TAPS = 3
CONTEXT_FRAMES = TAPS - 1
TIME_SCALE = 1000.0
"""Times run from 0 to 1; the sinusoids expect more."""


Affine = tuple[Tensor, Tensor]
"""Weight and bias."""


class Past(Protocol):
    """What lies before a run of frames. R is blocks times guidance rows."""

    def extend(self, offset: int, x: Tensor) -> Tensor:
        """(R, T, C) to (R, 2 + T, C): with the two frames before it, at one convolution."""
        ...

    def attend(self, layer: int, qkv: Tensor) -> Tensor:
        """(R, T, 3, heads, head_dim) to (R, T, heads, head_dim): these frames and those before."""
        ...


def bent(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Norm and activation of (R, T, channels), float32."""
    return F.mish(F.layer_norm(x.float(), weight.shape, weight, bias))


def fed_forward(x: Tensor, norm: Affine, up: Affine, down: Affine) -> Tensor:
    """``x`` (R, T, channels) float32 and what the second half of a transformer adds."""
    normed = F.layer_norm(x, norm[0].shape, *norm).to(up[0].dtype)
    return x + F.linear(F.gelu(F.linear(normed, *up)), *down)


class Block(nn.Module):
    """Convolution, norm, activation."""

    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        # The official sequence has two transpositions between these.
        self.block = nn.ModuleDict({"0": SlidingConv(channels, out, TAPS), "2": nn.LayerNorm(out)})
        self.bent: Pure = bent

    def forward(self, x: Tensor, past: Past) -> Tensor:
        """(R, T, channels) to (R, T, out)."""
        conv = cast("SlidingConv", self.block["0"])
        x = conv(past.extend(conv.offset, x.to(conv.weight.dtype)))
        norm = cast("nn.LayerNorm", self.block["2"])
        return self.bent(x, norm.weight, norm.bias)


class Resnet(nn.Module):
    """Two blocks; the time comes in between them."""

    def __init__(self, channels: int, out: int, time: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Mish(), nn.Linear(time, out))
        self.block1 = Block(channels, out)
        self.block2 = Block(out, out)
        self.res_conv = SlidingConv(channels, out, 1)

    def forward(self, x: Tensor, shift: Tensor, past: Past) -> Tensor:
        """``shift`` (R, out) is what :attr:`mlp` made of the time."""
        inner = self.block1(x, past) + shift[:, None]
        return cast("Tensor", self.block2(inner, past) + product(self.res_conv, x))


class Attention(nn.Module):
    """Of several heads, without bias on the way in."""

    def __init__(self, sizes: UnetSizes) -> None:
        super().__init__()
        inner = sizes.heads * sizes.head_dim
        self.heads = sizes.heads
        self.layer = 0
        self.to_q = nn.Linear(sizes.channels, inner, bias=False)
        self.to_k = nn.Linear(sizes.channels, inner, bias=False)
        self.to_v = nn.Linear(sizes.channels, inner, bias=False)
        self.to_out = nn.ModuleList([nn.Linear(inner, sizes.channels)])
        self._joined: Tensor | None = None

    def join(self) -> None:
        """Puts three matrices into one for good; the parameters become parts of it."""
        self._joined = self._weights().detach()
        layers = (self.to_q, self.to_k, self.to_v)
        for layer, part in zip(layers, self._joined.chunk(3), strict=True):
            layer.weight = nn.Parameter(part, requires_grad=False)

    def _weights(self) -> Tensor:
        return torch.cat([self.to_q.weight, self.to_k.weight, self.to_v.weight])

    def forward(self, x: Tensor, past: Past) -> Tensor:
        """(R, T, channels) to the same."""
        weights = self._weights() if self._joined is None else self._joined
        qkv = F.linear(x.to(weights.dtype), weights).view(*x.shape[:2], 3, self.heads, -1)
        return cast("Tensor", self.to_out[0](past.attend(self.layer, qkv).flatten(2)))


class FeedForward(nn.Module):
    """Four times as wide inside."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        widen = nn.ModuleDict({"proj": nn.Linear(channels, 4 * channels)})
        self.net = nn.ModuleDict({"0": widen, "2": nn.Linear(4 * channels, channels)})
        self.fed: Pure = fed_forward

    def forward(self, x: Tensor, norm: nn.LayerNorm) -> Tensor:
        """(R, T, channels) to the same: ``x`` and what its norm makes of it."""
        widen = cast("nn.ModuleDict", self.net["0"])
        up, down = cast("nn.Linear", widen["proj"]), cast("nn.Linear", self.net["2"])
        return self.fed(x, _affine(norm), _affine(up), _affine(down))


class Transformer(nn.Module):
    """Attention and a feed-forward, each on the norm of what it adds to."""

    def __init__(self, sizes: UnetSizes) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(sizes.channels)
        self.attn1 = Attention(sizes)
        self.norm3 = nn.LayerNorm(sizes.channels)
        self.ff = FeedForward(sizes.channels)

    def forward(self, x: Tensor, past: Past) -> Tensor:
        """(R, T, channels) to the same."""
        x = x + self.attn1(self.norm1(x), past)
        return cast("Tensor", self.ff(x, self.norm3))


class Level(nn.ModuleList):
    """A resnet, its transformers, and where the official net may change the rate a convolution."""

    def __init__(self, channels: int, sizes: UnetSizes, *, joint: bool) -> None:
        super().__init__()
        self.append(Resnet(channels, sizes.channels, 4 * sizes.channels))
        self.append(nn.ModuleList(Transformer(sizes) for _ in range(sizes.blocks)))
        if joint:
            self.append(SlidingConv(sizes.channels, sizes.channels, TAPS))

    def forward(self, x: Tensor, shift: Tensor, past: Past) -> Tensor:
        """All but the joint."""
        x = self[0](x, shift, past)
        for transformer in cast("nn.ModuleList", self[1]):
            x = transformer(x, past)
        return x

    def joint(self, x: Tensor, past: Past) -> Tensor:
        """The convolution at the end."""
        conv = cast("SlidingConv", self[2])
        return cast("Tensor", conv(past.extend(conv.offset, x.to(conv.weight.dtype))))


class TimeMlp(nn.Module):
    """Sinusoids of a time, through two layers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(IN_CHANNELS, width)
        self.linear_2 = nn.Linear(width, width)

    def forward(self, times: Tensor) -> Tensor:
        """(N,) to (N, width)."""
        half = IN_CHANNELS // 2
        falling = torch.arange(half, device=times.device) * -(math.log(10_000) / (half - 1))
        angles = TIME_SCALE * times[:, None] * falling.exp()
        sinusoids = torch.cat((angles.sin(), angles.cos()), dim=-1)
        return cast("Tensor", self.linear_2(F.silu(self.linear_1(sinusoids))))


class Unet(nn.Module):
    """The whole: down, the middle, up with what went down."""

    def __init__(self, sizes: UnetSizes) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.channels
        self.time_mlp = TimeMlp(4 * width)
        self.down_blocks = nn.ModuleList([Level(IN_CHANNELS, sizes, joint=True)])
        self.mid_blocks = nn.ModuleList(
            Level(width, sizes, joint=False) for _ in range(sizes.middle_blocks)
        )
        self.up_blocks = nn.ModuleList([Level(2 * width, sizes, joint=True)])
        self.final_block = Block(width, width)
        self.final_proj = SlidingConv(width, MEL_BANDS, 1)
        self.context_channels = 0
        for module in self.modules():
            if isinstance(module, SlidingConv) and module.taps == TAPS:
                module.offset = self.context_channels
                self.context_channels += module.channels
        attentions = [module for module in self.modules() if isinstance(module, Attention)]
        self.layers = len(attentions)
        for layer, attention in enumerate(attentions):
            attention.layer = layer

    def compile_parts(self, compiled: Compile) -> None:
        """What is done to a frame by itself goes through what ``compiled`` makes of it."""
        norm, feed = compiled(bent), compiled(fed_forward)
        for part in self.modules():
            if isinstance(part, Block):
                part.bent = norm
            elif isinstance(part, FeedForward):
                part.fed = feed

    def levels(self) -> Iterator[Level]:
        """From first to last."""
        for level in (*self.down_blocks, *self.mid_blocks, *self.up_blocks):
            yield cast("Level", level)

    def shifts(self, times: Tensor) -> Tensor:
        """(N,) to (N, levels, channels): all that the network does with a time."""
        inner = self.time_mlp(times)
        return torch.stack([cast("Resnet", level[0]).mlp(inner) for level in self.levels()], dim=1)

    def forward(self, x: Tensor, shifts: Tensor, past: Past) -> Tensor:
        """(R, T, 320) and (R, levels, channels) to the slope, (R, T, 80)."""
        first, *middle, last = zip(self.levels(), shifts.unbind(1), strict=True)
        x = skipped = first[0](x, first[1], past)
        x = first[0].joint(x, past)
        for level, shift in middle:
            x = level(x, shift, past)
        x = last[0](torch.cat((x, skipped), dim=-1), last[1], past)
        x = self.final_block(last[0].joint(x, past), past)
        return product(self.final_proj, x).float()


def _affine(layer: nn.Linear | nn.LayerNorm) -> Affine:
    return layer.weight, layer.bias
