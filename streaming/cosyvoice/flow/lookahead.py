"""The lookahead: a token's embedding learns of the 3 tokens after it and the 2 before.

Both generations have it, under the same parameter names. Knows: two convolutions. Keeps nothing:
two tokens before a run and three after it are all it needs, so those are given with each run.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.sizes import LOOKAHEAD_TOKENS

TOKENS_BEFORE = 2

LENGTHS = {"cuda": 32}
"""Runs are filled up to multiples of so many tokens: for each length cuDNN plans anew."""


class Lookahead(nn.Module):
    """``conv1`` looks ahead, ``conv2`` back; what is not there is 0."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(channels, hidden, LOOKAHEAD_TOKENS + 1)
        self.conv2 = nn.Conv1d(hidden, channels, TOKENS_BEFORE + 1)

    def forward(self, tokens: Tensor, *, before: int, after: int) -> Tensor:
        """``(B, before + T + after, C)`` to ``(B, T, C)``, of the T in the middle.

        ``before`` is 0 at the start, else 2; ``after`` is 0 at the end, else 3.
        """
        run = tokens.shape[1] - before - after
        filling = -(before + run) % LENGTHS.get(tokens.device.type, 1)
        ahead = F.pad(tokens.transpose(1, 2), (0, LOOKAHEAD_TOKENS - after + filling))
        hidden = F.leaky_relu(self.conv1(ahead))
        back: Tensor = self.conv2(F.pad(hidden, (TOKENS_BEFORE - before, 0)))
        return tokens[:, before : before + run] + back[..., :run].transpose(1, 2)
