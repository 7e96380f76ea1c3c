"""Version 3's vocoder: causal but for four mel frames, streaming exactly as in one pass.

A step makes sound of all a row's frames but the last four, which the first convolution sees ahead;
the pitch of the frame after those that sound is needed too and is made again at the next step.
Knows: which contexts there are, and the edges of an utterance. Does not know: how streams share a
batch (``stepping``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad

from streaming.cosyvoice.sizes import BLOCK_FRAMES, FRAME_SAMPLES, VocoderSizes
from streaming.cosyvoice.vocoder import counter
from streaming.cosyvoice.vocoder.carried import Carried
from streaming.cosyvoice.vocoder.layers import HeldUpsample, normed
from streaming.cosyvoice.vocoder.pitch import PitchPredictor
from streaming.cosyvoice.vocoder.shapes import ROWS, Shapes
from streaming.cosyvoice.vocoder.source import FRAME_S
from streaming.cosyvoice.vocoder.state import VocoderState
from streaming.cosyvoice.vocoder.stepping import Plan, StreamingVocoder, Work

LOOKAHEAD_FRAMES = 4
PITCH_AHEAD_FRAMES = 3

FRAMES = (16, 32, *(n * BLOCK_FRAMES + LOOKAHEAD_FRAMES for n in (1, 2, 3, 4, 6, 8)))
"""Those of a step: first hops are short, later ones whole blocks, the last gives what was kept; the
longest are of slow speech, and of who waited for two hops."""


class VocoderV3(StreamingVocoder):
    """CosyVoice 3's HiFT.

    After ``frames`` of mel, ``(frames - 4) * 480 - 8`` samples are out, and all of them at the
    end: the last eight wait for the overlap of the transform's next frames.
    """

    kept_frames = LOOKAHEAD_FRAMES
    usual_shapes = Shapes(ROWS, FRAMES)

    def __init__(self, sizes: VocoderSizes) -> None:
        pitch = PitchPredictor(sizes.f0_channels, ahead_frames=PITCH_AHEAD_FRAMES)
        super().__init__(sizes, pitch, LOOKAHEAD_FRAMES + 1)
        for index, (kernel, rate) in enumerate(
            zip(sizes.upsample_kernels, sizes.upsample_rates, strict=True)
        ):
            width = sizes.base_channels >> index
            self.ups.append(normed(HeldUpsample(width, width // 2, kernel, rate)))

    def begin(self, seed: int = 0, *, noise: Tensor | None = None) -> VocoderState:
        """A new stream; ``noise`` (samples, harmonics + 1), if given, replaces that of the seed."""
        return replace(super().begin(seed), noise=noise)

    def forward(
        self,
        mel: Tensor,
        plan: Tensor,
        carried: Tensor,
        exact: Tensor,
        noise: Tensor | None = None,
        *,
        ragged: bool = True,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """``mel`` is (B, frames + 4, 80), where a row that ends has zeros for the last four."""
        rows = Plan.of(plan)
        counts = rows.counts if ragged else mel.shape[1] - LOOKAHEAD_FRAMES
        body, fine = Carried(carried, counts), Carried(exact, counts)
        samples = self._advanced(mel, rows, body, fine, noise)
        return samples, body.after, fine.after

    def _advanced(
        self, mel: Tensor, rows: Plan, body: Carried, fine: Carried, noise: Tensor | None
    ) -> Tensor:
        source = self._source(mel, rows, fine, noise)
        spectrum = self.fourier.analyse(source).to(self.dtype)
        x = self._body(mel, spectrum, rows.first, body)
        wave = self._overlapped(x, rows, fine)
        return wave.clamp(-self.sizes.loudest, self.sizes.loudest)

    def _source(self, mel: Tensor, rows: Plan, fine: Carried, noise: Tensor | None) -> Tensor:
        """Source samples from 8 before the step to 8 after it, (B, frames * 480 + 16)."""
        hz = self.f0_predictor(mel.transpose(1, 2), fine)
        cycles = self._cycles(hz, fine)
        if noise is None:
            first = rows.start_frames * FRAME_SAMPLES
            lanes = self.sizes.harmonics + 1
            noise = counter.uniform(rows.keys, first, hz.shape[1] * FRAME_SAMPLES, lanes)
        samples = self.m_source.held(hz, cycles, noise)
        half = self.fourier.radius
        slot = fine.slot(samples, 1, half)
        mirror = samples[:, 1 : half + 1].flip(1)
        before = torch.where(rows.first, mirror, slot.before[:, 0].float())
        joined = torch.cat([before, samples], 1)
        slot.keep(joined[:, None], FRAME_SAMPLES)
        joined = self.fourier.mirrored(joined, half + rows.counts * FRAME_SAMPLES, rows.last)
        return joined[:, : 2 * half - FRAME_SAMPLES + samples.shape[1]]

    @staticmethod
    def _cycles(hz: Tensor, fine: Carried) -> Tensor:
        slot = fine.slot(hz, 1, 1)
        before = slot.before[:, 0]
        cycles = (before + (hz * FRAME_S).cumsum(1)) % 1.0
        slot.keep(torch.cat([before, cycles], 1)[:, None], 1)
        return cycles

    def _body(self, mel: Tensor, spectrum: Tensor, first: Tensor, body: Carried) -> Tensor:
        x = conv1d(mel.to(self.dtype).transpose(1, 2), self.conv_pre.weight, self.conv_pre.bias)
        longest = self.strides[0] - 1
        spectrum = body.joined(spectrum, longest, self.rates[-1])
        for index, (up, down) in enumerate(zip(self.ups, self.source_downs, strict=True)):
            assert isinstance(up, HeldUpsample)
            x = up.raised(body.joined(self._sloped(x), up.reach, self.rates[index] // up.rate))
            if up is self.ups[-1]:
                x = self._delayed(x, first, body)
            reach = self.strides[index] - 1
            x = self._blended(index, x, down(spectrum[:, :, longest - reach :]), body)
        return self._finished(x, body)

    def _delayed(self, x: Tensor, first: Tensor, body: Carried) -> Tensor:
        """One step later than it came; an utterance begins with the mirror image of its second."""
        slot = body.slot(x, x.shape[1], 1)
        before = torch.where(first[:, :, None], x[:, :, 1:2], slot.before)
        joined = torch.cat([before, x], 2)
        slot.keep(joined, self.rates[-1])
        return joined

    def _overlapped(self, spectrum: Tensor, rows: Plan, fine: Carried) -> Tensor:
        """Samples from 8 before the step on; a row that ends has one frame more than others."""
        fourier = self.fourier
        ends = rows.counts[:, None] * self.rates[-1] + rows.last
        valid = torch.arange(spectrum.shape[2], device=ends.device) < ends
        wave = fourier.synthesise(spectrum.masked_fill(~valid[:, None], 0.0))
        slot = fine.slot(wave, 1, fourier.overlap)
        wave[:, : fourier.overlap] += slot.before[:, 0].float()
        slot.keep(wave[:, None], FRAME_SAMPLES)
        end = fourier.radius + rows.counts * FRAME_SAMPLES
        return fourier.levelled(wave, fourier.radius, end, rows.first, rows.last)

    def _blank(self) -> tuple[Tensor, Tensor]:
        """One silent frame is run to see what it reads."""
        mel = self.fourier.head.new_zeros(1, 1 + LOOKAHEAD_FRAMES, 80)
        table = torch.zeros(5, 1, dtype=torch.int64, device=mel.device)
        table[0] = 1
        body, fine = Carried(None, 1), Carried(None, 1)
        self._advanced(mel, Plan.of(table), body, fine, None)
        return (
            mel.new_zeros(body.size, dtype=self.dtype),
            mel.new_zeros(fine.size, dtype=torch.float64),
        )

    def _sounding(self, frames: int, *, first: bool, last: bool) -> int:  # noqa: ARG002 - v2's
        return frames if last else frames - LOOKAHEAD_FRAMES

    def _count(self, work: Work) -> int:
        return work.frames

    def _start(self, work: Work) -> int:
        return work.state.done_frames

    def _span(self, work: Work) -> slice:
        half = self.fourier.radius
        begin, end = half if work.first else 0, half if work.last else 0
        return slice(begin, work.frames * FRAME_SAMPLES + end)

    def _padded(self, works: Sequence[Work], rows: int, width: int) -> Tensor:
        return super()._padded(works, rows, width + LOOKAHEAD_FRAMES)

    def _given(self, works: Sequence[Work], mel: Tensor) -> Tensor | None:
        if all(work.state.noise is None for work in works):
            return None
        frames = mel.shape[1] - PITCH_AHEAD_FRAMES
        return torch.stack([self._noise(work, frames) for work in works])

    def _noise(self, work: Work, frames: int) -> Tensor:
        state, lanes = work.state, self.sizes.harmonics + 1
        first, count = state.done_frames * FRAME_SAMPLES, frames * FRAME_SAMPLES
        if state.noise is None:
            words = torch.tensor([[state.key], [first]], device=work.mel.device)
            return counter.uniform(words[0], words[1], count, lanes)[0]
        given = state.noise[first : first + count].float()
        return pad(given, (0, 0, 0, count - len(given)))
