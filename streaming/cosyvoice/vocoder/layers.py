"""The vocoder's bricks, with the official parameter names.

Knows: weight-normed convolutions, the periodic activation, residual blocks, upsampling. Does not
know: where a convolution's context comes from: a ``Run`` brings it, carried or centred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d
from torch.nn.utils.parametrizations import weight_norm
from torch.nn.utils.parametrize import is_parametrized, remove_parametrizations

from streaming.cosyvoice.compiling import Pure

_Conv = TypeVar("_Conv", nn.Conv1d, nn.ConvTranspose1d)

Activation = Callable[[Tensor], Tensor]


class Run(Protocol):
    """One pass over a batch: gives every convolution what lies beside its input."""

    def convolve(
        self, conv: nn.Module, x: Tensor, rate: int, activation: Activation | None = None
    ) -> Tensor:
        """``conv`` over ``activation(x)``, as long as ``x``; ``rate`` steps are a mel frame."""


def normed(conv: _Conv) -> _Conv:
    """The same convolution, its weight as gain and direction: so the checkpoint holds it."""
    weight_norm(conv)
    return conv


def denormed(modules: Iterable[nn.Module]) -> None:
    """Multiplies gain and direction out, for good."""
    for module in modules:
        if is_parametrized(module, "weight"):
            remove_parametrizations(module, "weight", leave_parametrized=True)


def snaked(x: Tensor, scale: Tensor, gain: Tensor) -> Tensor:
    """``x + sin(scale x)^2 * gain`` of (B, channels, steps), with factors (channels, 1)."""
    sine = torch.mul(x, scale).sin_()
    return torch.addcmul(x, sine.mul_(sine), gain)


class Snake(nn.Module):
    """``x + sin(alpha x)^2 / alpha``, with an alpha a channel (Ziyin et al., arXiv 2006.08195)."""

    scale: Tensor
    gain: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(channels))
        self.curve: Pure = snaked
        self.fuse()

    def fuse(self) -> None:
        """Takes the reciprocal once instead of at every step."""
        scale = self.alpha.detach()[:, None].clone()
        self.register_buffer("scale", scale, persistent=False)
        self.register_buffer("gain", 1.0 / (scale + 1e-9), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, steps) to the same."""
        return self.curve(x, self.scale, self.gain)


class ResBlock(nn.Module):
    """Pairs of convolutions, each pair around a shortcut; the first of a pair is dilated."""

    def __init__(self, channels: int, kernel: int, dilations: Iterable[int]) -> None:
        super().__init__()
        dilations = tuple(dilations)

        def convs(each: Iterable[int]) -> nn.ModuleList:
            return nn.ModuleList(
                normed(nn.Conv1d(channels, channels, kernel, dilation=one)) for one in each
            )

        def activations() -> nn.ModuleList:
            return nn.ModuleList(Snake(channels) for _ in dilations)

        self.convs1, self.convs2 = convs(dilations), convs(1 for _ in dilations)
        self.activations1, self.activations2 = activations(), activations()

    def forward(self, x: Tensor, run: Run, rate: int) -> Tensor:
        """(B, channels, steps) to the same."""
        pairs = zip(self.activations1, self.convs1, self.activations2, self.convs2, strict=True)
        for snake1, conv1, snake2, conv2 in pairs:
            inner = run.convolve(conv1, x, rate, snake1)
            x = x + run.convolve(conv2, inner, rate, snake2)
        return x


class HeldUpsample(nn.Conv1d):
    """Each step held ``rate`` times, then a causal convolution; computed at the lower rate.

    Of the steps under a kernel most are the same one: their weights are summed beforehand, once
    for each of the ``rate`` places that an output can have, which leaves ``reach + 1`` taps.
    """

    taps: Tensor
    """(out * rate, in, reach + 1), after :meth:`fuse`"""
    offsets: Tensor

    def __init__(self, channels: int, out: int, kernel: int, rate: int) -> None:
        super().__init__(channels, out, kernel)
        self.rate = rate
        self.reach = -(-(kernel - 1) // rate)

    def fuse(self) -> None:
        """Sums the weights that meet the same step."""
        out, channels, kernel = self.weight.shape
        taps = self.weight.new_zeros(out, self.rate, channels, self.reach + 1)
        for place in range(self.rate):
            for index in range(kernel):
                step = (place - kernel + 1 + index) // self.rate
                taps[:, place, :, self.reach + step] += self.weight[:, :, index]
        self.register_buffer("taps", taps.flatten(0, 1), persistent=False)
        assert self.bias is not None
        offsets = self.bias.repeat_interleave(self.rate)
        self.register_buffer("offsets", offsets, persistent=False)

    def raised(self, joined: Tensor) -> Tensor:
        """(B, in, reach + steps) to (B, out, rate * steps)."""
        places = conv1d(joined, self.taps, self.offsets)
        batch, _, steps = places.shape
        places = places.view(batch, -1, self.rate, steps)
        return places.transpose(2, 3).reshape(batch, -1, self.rate * steps)
