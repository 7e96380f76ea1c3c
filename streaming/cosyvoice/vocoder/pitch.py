"""The fundamental of each mel frame, in float64.

Its errors add up in the phase over a whole utterance, and differ with the shape of a batch: in
float32 a minute of speech would not come out the same twice. Knows: the predictor's weights, with
the official names. Does not know: what is made of the pitch.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, elu

from streaming.cosyvoice.sizes import MEL_BANDS
from streaming.cosyvoice.vocoder.layers import Run, denormed, normed

CONVOLUTIONS = 5
KERNEL = 3


class PitchPredictor(nn.Module):
    """Convolutions over mel frames; causal, the first one looks ahead and the others back."""

    def __init__(self, channels: int, *, ahead_frames: int = 0) -> None:
        """``ahead_frames``: what the first convolution sees to its right, if it is causal."""
        super().__init__()
        self.ahead_frames = ahead_frames
        first = nn.Conv1d(MEL_BANDS, channels, ahead_frames + 1 if ahead_frames else KERNEL)
        layers: list[nn.Module] = [normed(first), nn.ELU()]
        for _ in range(CONVOLUTIONS - 1):
            layers += [normed(nn.Conv1d(channels, channels, KERNEL)), nn.ELU()]
        self.condnet = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, 1)

    def fuse(self) -> None:
        """All in float64, then weight norm multiplied out."""
        self.double()
        denormed(self.condnet)

    def forward(self, mel: Tensor, run: Run) -> Tensor:
        """Mel (B, 80, frames + ahead_frames) to Hz (B, frames), float64."""
        first, *others = (layer for layer in self.condnet if isinstance(layer, nn.Conv1d))
        mel = mel.double()
        if self.ahead_frames:
            x = conv1d(mel, first.weight, first.bias)
        else:
            x = run.convolve(first, mel, 1)
        for conv in others:
            x = run.convolve(conv, x, 1, elu)
        hz = torch.matmul(elu(x).transpose(1, 2), self.classifier.weight[0])
        return (hz + self.classifier.bias).abs()
