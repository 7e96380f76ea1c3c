"""The harmonic source: a voice's buzz and hiss, from the fundamental of each mel frame.

Phases are in cycles, wrapped, in float64, so they are as exact after an hour as at the start.
Knows: both generations' rules. Does not know: where phases and noise come from.

The official module also draws an initial phase for each harmonic and adds it to the first sample,
which its resampling to frames then skips: it reaches no sound, so there is none here.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from streaming.cosyvoice.sizes import FRAME_SAMPLES, VocoderSizes

RATE = 24_000
FRAME_S = FRAME_SAMPLES / RATE


class Source(nn.Module):
    """Mixes sines at the multiples of a fundamental, with noise, to one signal."""

    orders: Tensor

    def __init__(self, sizes: VocoderSizes) -> None:
        super().__init__()
        self.sizes = sizes
        count = sizes.harmonics + 1
        self.l_linear = nn.Linear(count, 1)
        orders = torch.arange(1, count + 1, dtype=torch.float64)
        self.register_buffer("orders", orders, persistent=False)

    def held(self, hz: Tensor, cycles: Tensor, noise: Tensor) -> Tensor:
        """Version 3: the phase stands still within a frame, as the official model's does.

        ``hz`` and ``cycles`` (the phase reached in each frame) are (B, frames), ``noise`` is
        (B, frames * 480, harmonics + 1); gives (B, frames * 480).
        """
        voiced = (hz > self.sizes.voiced_hz).float()
        tone = self._mixed(self._sines(cycles) * voiced[..., None]) * self.sizes.sine_amplitude
        hiss = (noise @ self.l_linear.weight[0]).view(*hz.shape, FRAME_SAMPLES)
        return self._signal(tone[..., None], hiss, voiced)

    def gliding(self, hz: Tensor, cycles: Tensor, noise: Tensor) -> Tensor:
        """Version 2: ``cycles`` is the phase of each sample, (B, frames * 480).

        ``noise`` (B, frames * 480) is one Gaussian a sample: the mix of independent Gaussians that
        the official module draws, one a harmonic, is one that is as loud as their weights.
        """
        turns = (cycles % 1.0).float()[..., None] * self.orders.float()
        voiced = (hz > self.sizes.voiced_hz).float()
        tone = self._mixed(torch.sin(2.0 * torch.pi * turns)) * self.sizes.sine_amplitude
        shape = (*hz.shape, FRAME_SAMPLES)
        hiss = noise.view(shape) * self.l_linear.weight.norm()
        return self._signal(tone.view(shape) * voiced[..., None], hiss, voiced)

    def _sines(self, cycles: Tensor) -> Tensor:
        """(B, frames) to (B, frames, harmonics + 1), float32."""
        return torch.sin(2.0 * torch.pi * (cycles[..., None] * self.orders % 1.0)).float()

    def _mixed(self, sines: Tensor) -> Tensor:
        return sines @ self.l_linear.weight[0]

    def _signal(self, tone: Tensor, hiss: Tensor, voiced: Tensor) -> Tensor:
        sizes = self.sizes
        loud = voiced * sizes.noise_sigma + (1.0 - voiced) * sizes.sine_amplitude / 3.0
        return torch.tanh(tone + hiss * loud[..., None] + self.l_linear.bias).flatten(1)
