"""Version 2's vocoder: it sees both sides, so steps overlap and are faded into one another.

Each step begins with the last frames of the one before, and its sound fades in over eight of them
while what was made of them then fades out: the official stream's rule, with two differences. There
the two Hamming halves add up to 1.08, here to one. And there each step's source signal begins anew
behind a kept piece that was made without seeing what follows; here the pitch is made again once it
can see, and the phase goes on, so the source is that of the whole utterance.
Knows: the overlap, the fade. Does not know: how streams share a batch (``stepping``).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from streaming.cosyvoice.sizes import BLOCK_FRAMES, FRAME_SAMPLES, VocoderSizes
from streaming.cosyvoice.vocoder import counter
from streaming.cosyvoice.vocoder.centred import Centred
from streaming.cosyvoice.vocoder.layers import normed
from streaming.cosyvoice.vocoder.pitch import PitchPredictor
from streaming.cosyvoice.vocoder.shapes import ROWS, Shapes
from streaming.cosyvoice.vocoder.source import FRAME_S
from streaming.cosyvoice.vocoder.stepping import Plan, StreamingVocoder, Work

OVERLAP_FRAMES = 8
OVERLAP_SAMPLES = OVERLAP_FRAMES * FRAME_SAMPLES
PITCH_REACH_FRAMES = 5
"""What the pitch of a frame sees on each side of it."""

KEPT_FRAMES = 2 * PITCH_REACH_FRAMES
"""Of which one, ``KNOWN_FRAME``, has its final pitch already, and those after it can have it."""

KNOWN_FRAME = KEPT_FRAMES - PITCH_REACH_FRAMES - 1
KNOWN_SAMPLES = KNOWN_FRAME * FRAME_SAMPLES + FRAME_SAMPLES // 2
"""To the middle of that frame the kept frames' source is final."""

FRAMES = (16, 32, *(blocks * BLOCK_FRAMES + KEPT_FRAMES for blocks in range(1, 3)))
"""Those of a step: a hop is a block, or as long as two where speech is slow."""

CONTEXT_SAMPLES = (KEPT_FRAMES - OVERLAP_FRAMES) * FRAME_SAMPLES
PRE_KERNEL = 7


def fades() -> tuple[Tensor, Tensor]:
    """How much of the new sound and of the old one is heard, (8 * 480,) each; the sum is one."""
    place = torch.arange(2 * OVERLAP_SAMPLES, dtype=torch.float64)
    turn = 2.0 * torch.pi * place / (2 * OVERLAP_SAMPLES - 1)
    rising, falling = (0.54 - 0.46 * turn.cos()).view(2, -1)
    total = rising + falling
    return (rising / total).float(), (falling / total).float()


class VocoderV2(StreamingVocoder):
    """CosyVoice 2's HiFT: after ``frames`` (10 or more), ``(frames - 8) * 480`` samples are out."""

    kept_frames = least_frames = KEPT_FRAMES
    usual_shapes = Shapes(ROWS, FRAMES)

    rising: Tensor
    falling: Tensor

    def __init__(self, sizes: VocoderSizes) -> None:
        super().__init__(sizes, PitchPredictor(sizes.f0_channels), PRE_KERNEL)
        for index, (kernel, rate) in enumerate(
            zip(sizes.upsample_kernels, sizes.upsample_rates, strict=True)
        ):
            width = sizes.base_channels >> index
            padding = (kernel - rate) // 2
            up = nn.ConvTranspose1d(width, width // 2, kernel, rate, padding)
            self.ups.append(normed(up))
        for name, fade in zip(("rising", "falling"), fades(), strict=True):
            self.register_buffer(name, fade, persistent=False)

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
        """``mel`` is (B, frames, 80), kept frames first; zeros beyond a row's end."""
        rows = Plan.of(plan)
        run = Centred(rows.counts if ragged else None, mel.shape[1])
        known, fading = carried[:, :KNOWN_SAMPLES], carried[:, KNOWN_SAMPLES:]
        source, after = self._source(mel, rows, exact, run, noise)
        source = _replaced(source, 0, known, ~rows.first)
        wave = self.decode(mel, source, rows, run)
        overlap = wave[:, CONTEXT_SAMPLES:][:, :OVERLAP_SAMPLES]
        faded = overlap * self.rising + fading * self.falling
        wave = _replaced(wave, CONTEXT_SAMPLES, faded, ~rows.first)
        ends = rows.counts[:, None] * FRAME_SAMPLES
        kept = _taken(source, ends - KEPT_FRAMES * FRAME_SAMPLES, KNOWN_SAMPLES)
        return (
            wave,
            torch.cat([kept, _taken(wave, ends - OVERLAP_SAMPLES, OVERLAP_SAMPLES)], 1),
            after,
        )

    def decode(self, mel: Tensor, source: Tensor, rows: Plan, run: Centred) -> Tensor:
        """Mel (B, frames, 80) and source (B, frames * 480) to samples, as many."""
        fourier = self.fourier
        half = fourier.radius
        ends = half + rows.counts * FRAME_SAMPLES
        edged = torch.cat([source[:, 1 : half + 1].flip(1), source, source[:, :half]], 1)
        edged = fourier.mirrored(edged, ends, torch.ones_like(rows.last))
        spectrum = fourier.analyse(edged).to(self.dtype)
        x = self._body(mel, spectrum, run)
        wave = fourier.synthesise(run.masked(x, self.rates[-1]))
        every = torch.ones_like(rows.last)
        wave = fourier.levelled(wave, half, ends, every, every)[:, half:-half]
        return wave.clamp(-self.sizes.loudest, self.sizes.loudest)

    def _source(
        self, mel: Tensor, rows: Plan, exact: Tensor, run: Centred, noise: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Source of all frames, in later steps true from the known frame's middle on.

        Also the next step's known frame: its phase and its pitch.
        """
        hz = self.f0_predictor(mel.transpose(1, 2), run)
        place = torch.arange(hz.shape[1], device=hz.device)
        phase, known = exact[:, :1], exact[:, 1:]
        hz = torch.where((place == KNOWN_FRAME) & ~rows.first, known, hz)
        begin = torch.where(rows.first, -1, KNOWN_FRAME)
        steps = hz * FRAME_S
        middles = phase + (steps * (place > begin)).cumsum(1)
        if noise is None:
            first = rows.start_frames * FRAME_SAMPLES
            noise = counter.normal(rows.keys, first, hz.shape[1] * FRAME_SAMPLES)
        source = self.m_source.gliding(hz, self._cycles(steps, middles, rows), noise)
        at = (rows.counts[:, None] - 1 - PITCH_REACH_FRAMES).clamp(min=0)
        return source, torch.cat([middles.gather(1, at) % 1.0, hz.gather(1, at)], 1)

    @staticmethod
    def _cycles(steps: Tensor, middles: Tensor, rows: Plan) -> Tensor:
        """The phase of each sample (B, frames * 480): linear from a frame's middle to the next one.

        An utterance's first and last half frame stand still, as in the official module; a step's
        last one goes on as its frame did.
        """
        place = torch.arange(steps.shape[1], device=steps.device)
        before = torch.where((place == 0) & rows.first, 0.0, steps)
        leaving = torch.where(rows.last, 0.0, steps)
        after = torch.where(place == rows.counts[:, None] - 1, leaving, steps.roll(-1, 1))
        offset = (torch.arange(FRAME_SAMPLES, device=steps.device) + 0.5) / FRAME_SAMPLES - 0.5
        slope = torch.where(offset < 0.0, before[..., None], after[..., None])
        return (middles[..., None] + slope * offset.double()).flatten(1)

    def _body(self, mel: Tensor, spectrum: Tensor, run: Centred) -> Tensor:
        x = run.convolve(self.conv_pre, mel.to(self.dtype).transpose(1, 2), 1)
        spectrum = run.masked(spectrum, self.rates[-1])
        for index, (up, down) in enumerate(zip(self.ups, self.source_downs, strict=True)):
            x = up(
                run.masked(self._sloped(x), self.rates[index] // self.sizes.upsample_rates[index])
            )
            if up is self.ups[-1]:
                x = torch.cat([x[:, :, 1:2], x], 2)
            source = down(pad(spectrum, (self.strides[index] // 2,) * 2))
            x = self._blended(index, x, source, run)
        return self._finished(x, run)

    def _blank(self) -> tuple[Tensor, Tensor]:
        like = self.rising
        carried = like.new_zeros(KNOWN_SAMPLES + OVERLAP_SAMPLES)
        return carried, like.new_zeros(2, dtype=torch.float64)

    def _sounding(self, frames: int, *, first: bool, last: bool) -> int:
        begin = 0 if first else KEPT_FRAMES - OVERLAP_FRAMES
        if last:
            return frames - begin
        return frames - begin - OVERLAP_FRAMES if frames >= KEPT_FRAMES else 0

    def _count(self, work: Work) -> int:
        return len(work.mel)

    def _start(self, work: Work) -> int:
        return max(0, work.state.done_frames - (KEPT_FRAMES - OVERLAP_FRAMES))

    def _span(self, work: Work) -> slice:
        begin = 0 if work.first else CONTEXT_SAMPLES
        return slice(begin, begin + work.frames * FRAME_SAMPLES)


def _replaced(x: Tensor, begin: int, piece: Tensor, where: Tensor) -> Tensor:
    """``x`` with ``piece`` from ``begin`` on in the rows that ``where`` (B, 1) names."""
    end = begin + piece.shape[1]
    middle = torch.where(where, piece, x[:, begin:end])
    return torch.cat([x[:, :begin], middle, x[:, end:]], 1)


def _taken(x: Tensor, begin: Tensor, size: int) -> Tensor:
    """``size`` samples of each row from ``begin`` (B, 1); not used where a row is shorter."""
    return x.gather(1, begin.clamp(min=0) + torch.arange(size, device=x.device))
