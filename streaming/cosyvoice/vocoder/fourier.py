"""The short transform at the vocoder's ends: samples to a spectrum, a spectrum to samples.

Both are products with fixed matrices, always float32, so that they batch and stream like the rest
(as convolutions they would be rounded to 10 bits on CUDA, by default). Knows: the window (periodic
Hann), the edges of a recording. Does not know: networks.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

LOUDEST_BIN = 100.0
"""The official code's limit on a magnitude."""


class Fourier(nn.Module):
    """Frames of ``size`` samples around every ``hop``-th one."""

    analysis: Tensor
    """(size, size + 2): real parts, then imaginary parts."""
    synthesis: Tensor
    """(size + 2, size)"""
    head: Tensor
    """(hop,): what the first samples, met by one frame less, are multiplied with."""
    tail: Tensor

    def __init__(self, size: int, hop: int) -> None:
        super().__init__()
        self.size, self.hop = size, hop
        self.radius, self.overlap = size // 2, size - hop
        place = torch.arange(size, dtype=torch.float64)
        window = 0.5 - 0.5 * torch.cos(2.0 * torch.pi * place / size)
        square = window.square().view(-1, hop)
        whole = square.sum(0)
        turn = 2.0 * torch.pi * torch.arange(self.radius + 1, dtype=torch.float64)[:, None] * place
        cosine, sine = (turn / size).cos(), (turn / size).sin()
        twice = torch.full((self.radius + 1, 1), 2.0, dtype=torch.float64)
        twice[0] = twice[-1] = 1.0
        share = twice * window / (size * whole.repeat(size // hop))
        self._fixed("analysis", (torch.cat([cosine, -sine]) * window).T)
        self._fixed("synthesis", torch.cat([cosine, -sine]) * share.repeat(2, 1))
        self._fixed("head", whole / (whole - square[-1]))
        self._fixed("tail", whole / (whole - square[0]))

    def _fixed(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value.float().contiguous(), persistent=False)

    def analyse(self, samples: Tensor) -> Tensor:
        """(B, (frames - 1) * hop + size) to (B, size + 2, frames)."""
        frames = samples.unfold(1, self.size, self.hop)
        return (frames @ self.analysis).transpose(1, 2)

    def synthesise(self, spectrum: Tensor) -> Tensor:
        """(B, size + 2, frames) to (B, (frames - 1) * hop + size): the overlapped sum, scaled."""
        batch, _, frames = spectrum.shape
        parts = self.size // self.hop
        pieces = (spectrum.transpose(1, 2) @ self.synthesis).view(batch, frames, parts, self.hop)
        wave = pieces.new_zeros(batch, frames + parts - 1, self.hop)
        for part in range(parts):
            wave[:, part : part + frames] += pieces[:, :, part]
        return wave.flatten(1)

    def polar(self, x: Tensor) -> Tensor:
        """A network's output, log-magnitudes then phases, as :meth:`synthesise` takes it."""
        x = x.float()
        magnitude = x[:, : self.radius + 1].exp().clamp(max=LOUDEST_BIN)
        phase = x[:, self.radius + 1 :].sin()
        return torch.cat([magnitude * phase.cos(), magnitude * phase.sin()], 1)

    def mirrored(self, samples: Tensor, ends: Tensor, where: Tensor) -> Tensor:
        """Half a frame after each row's end is the mirror image of what comes before it.

        ``samples`` (B, any) are long enough; ``ends`` is (B,), ``where`` (B, 1) says which rows.
        """
        step = torch.arange(self.radius, device=samples.device)
        after, image = ends[:, None] + step, ends[:, None] - 2 - step
        values = samples.gather(1, torch.where(where, image, after))
        return samples.scatter(1, after, values)

    def levelled(
        self, wave: Tensor, begin: int, ends: Tensor, first: Tensor, last: Tensor
    ) -> Tensor:
        """Makes up for the frame that an utterance's first and last samples lack, in place.

        ``begin`` is where the first sample lies, ``ends`` (B,) is behind each row's last.
        """
        head = slice(begin, begin + self.hop)
        wave[:, head] *= torch.where(first, self.head, 1.0)
        places = ends[:, None] - self.hop + torch.arange(self.hop, device=wave.device)
        return wave.scatter(1, places, wave.gather(1, places) * torch.where(last, self.tail, 1.0))
