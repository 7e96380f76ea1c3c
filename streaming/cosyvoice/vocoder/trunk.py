"""HiFT's body, the same in both generations: mel and source spectrum to a spectrum of samples.

Knows: the module tree with the official names, what is done once after loading. Does not know:
time: how one step follows another is the generations' own (``v3``, ``v2``).
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from streaming.cosyvoice.compiling import Compile
from streaming.cosyvoice.sizes import MEL_BANDS, VocoderSizes
from streaming.cosyvoice.vocoder.fourier import Fourier
from streaming.cosyvoice.vocoder.layers import (
    HeldUpsample,
    ResBlock,
    Run,
    Snake,
    denormed,
    normed,
    snaked,
)
from streaming.cosyvoice.vocoder.pitch import PitchPredictor
from streaming.cosyvoice.vocoder.source import Source

POST_KERNEL = 7
POST_SLOPE = 0.01
"""The last rectifier's, whatever the others' is."""


class Trunk(nn.Module):
    """Official parameter names; load a checkpoint with ``strict=True``, then :meth:`fuse`."""

    def __init__(self, sizes: VocoderSizes, pitch: PitchPredictor, pre_kernel: int) -> None:
        super().__init__()
        self.sizes = sizes
        bins = sizes.istft_size + 2
        widths = [sizes.base_channels >> index for index in range(len(sizes.upsample_rates) + 1)]
        self.rates = tuple(accumulate(sizes.upsample_rates, mul))
        """Steps a mel frame, after each upsampling."""
        self.strides = tuple(self.rates[-1] // rate for rate in self.rates)
        """Frames of the source's spectrum to one step."""
        self.f0_predictor = pitch
        self.m_source = Source(sizes)
        self.fourier = Fourier(sizes.istft_size, sizes.istft_hop)
        self.conv_pre = normed(nn.Conv1d(MEL_BANDS, widths[0], pre_kernel))
        self.ups = nn.ModuleList()
        self.source_downs = nn.ModuleList(
            nn.Conv1d(bins, width, 1 if stride == 1 else 2 * stride, stride)
            for width, stride in zip(widths[1:], self.strides, strict=True)
        )
        self.source_resblocks = nn.ModuleList(
            map(ResBlock, widths[1:], sizes.source_kernels, sizes.source_dilations)
        )
        self.resblocks = nn.ModuleList(
            ResBlock(width, kernel, dilations)
            for width in widths[1:]
            for kernel, dilations in zip(
                sizes.resblock_kernels, sizes.resblock_dilations, strict=True
            )
        )
        self.conv_post = normed(nn.Conv1d(widths[-1], bins, POST_KERNEL))

    def fuse(self, dtype: torch.dtype = torch.float32) -> Self:
        """Prepares for use, once, after loading: weight norm multiplied out, the body in ``dtype``.

        Pitch stays in float64, source and transforms in float32.
        """
        self.f0_predictor.fuse()
        denormed(module for module in self.modules() if module is not self)
        for module in self.modules():
            if isinstance(module, Snake | HeldUpsample):
                module.fuse()
        body = (self.conv_pre, self.ups, self.source_downs, self.source_resblocks)
        for part in (*body, self.resblocks, self.conv_post):
            part.to(dtype)
        return self.eval().requires_grad_(requires_grad=False)

    def compile_curves(self, compiled: Compile) -> None:
        """All activations go through what ``compiled`` makes of their function.

        They are the longest chains of small operations here, at the highest rates; what is left is
        products.
        """
        curve = compiled(snaked)
        for module in self.modules():
            if isinstance(module, Snake):
                module.curve = curve

    @property
    def dtype(self) -> torch.dtype:
        """The body's."""
        return next(self.conv_post.parameters()).dtype

    def _blended(self, index: int, x: Tensor, source: Tensor, run: Run) -> Tensor:
        """One resolution: the source joins, then the mean of the parallel blocks."""
        rate = self.rates[index]
        x = x + self.source_resblocks[index](source, run, rate)
        kernels = len(self.sizes.resblock_kernels)
        blocks = self.resblocks[index * kernels : (index + 1) * kernels]
        total: Tensor = blocks[0](x, run, rate)
        for block in blocks[1:]:
            total = total + block(x, run, rate)
        return total / kernels

    def _sloped(self, x: Tensor) -> Tensor:
        return leaky_relu(x, self.sizes.slope)

    def _finished(self, x: Tensor, run: Run) -> Tensor:
        """The last convolution: a spectrum of samples, float32."""
        x = run.convolve(self.conv_post, leaky_relu(x, POST_SLOPE), self.rates[-1])
        return self.fourier.polar(x)
