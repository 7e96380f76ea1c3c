"""Tokens to a run: pages taken, tokens encoded, conditions and starting noise laid out in blocks.

Knows: which blocks a block sees. Does not know: contexts, voices, or how a run is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.flow.base import ZERO_PAGE, HostRow, Network, Piece
from streaming.cosyvoice.flow.pool import Pool
from streaming.cosyvoice.flow.solver import noise_at
from streaming.cosyvoice.flow.values import Kept, Run
from streaming.cosyvoice.sizes import BLOCK_FRAMES, BLOCK_TOKENS, FRAMES_PER_TOKEN, MEL_BANDS
from streaming.cosyvoice.transfer import integers, moved


@dataclass(frozen=True)
class Sight:
    """What a block sees: the blocks that hold the prompt, and a window before its own, or all."""

    window_blocks: int | None = None
    prompt_blocks: int = 0

    def of(self, block: int, kept: Sequence[Kept]) -> tuple[Kept, ...]:
        """Of ``kept``, those that ``block`` sees."""
        if self.window_blocks is None:
            return tuple(kept)
        oldest = block - self.window_blocks
        return tuple(k for k in kept if k.block >= oldest or k.block < self.prompt_blocks)


@dataclass(frozen=True)
class Request:
    """The next tokens of a context, from a block's beginning on."""

    speaker: Tensor
    past: tuple[Kept, ...]
    """All blocks that are kept, the voice's among them."""
    tail: tuple[int, ...]
    """The two tokens before, if there are any."""
    tokens: tuple[int, ...]
    """Those of the run, then those that it looks ahead to."""
    ahead: int
    """How many of ``tokens`` are only looked ahead to."""
    mel: Tensor
    """The prompt's frames, at the run's beginning: (frames, 80)."""
    sight: Sight = Sight()

    @property
    def count(self) -> int:
        """Tokens of the run."""
        return len(self.tokens) - self.ahead

    @property
    def blocks(self) -> int:
        """Blocks of the run; the last may be short."""
        return -(-self.count // BLOCK_TOKENS)

    @property
    def first(self) -> int:
        """The run's first block."""
        return self.past[-1].block + 1 if self.past else 0


def make(request: Request, network: Network, pool: Pool) -> Run:
    """The run, at its first Euler step; raises ``OutOfPages`` and then holds nothing."""
    if request.count == 0:
        empty = torch.zeros(0, BLOCK_FRAMES, MEL_BANDS)
        return Run(x=empty, given=empty, rows=(), kept=(), frames=0)
    last_page = request.past[-1].page.index if request.past else None
    pages = pool.take(request.blocks, after=last_page)
    kept = tuple(Kept(request.first + at, page) for at, page in enumerate(pages))
    mu = network.encode(_piece(request, kept, network.device), pool.shelves)
    noise = moved(noise_at(request.first * BLOCK_FRAMES, mu.shape[0]), network.device)
    mel = F.pad(request.mel, (0, 0, 0, mu.shape[0] - request.mel.shape[0]))
    return Run(
        x=_in_blocks(noise),
        given=network.given(_in_blocks(mu), _in_blocks(mel), request.speaker),
        rows=_rows(request, kept),
        kept=kept,
        frames=mu.shape[0],
    )


def _piece(request: Request, kept: Sequence[Kept], device: torch.device) -> Piece:
    return Piece(
        tokens=integers([*request.tail, *request.tokens], device),
        before=len(request.tail),
        after=request.ahead,
        block=request.first,
        pages=tuple(k.page.index for k in kept),
        past=tuple(k.page.index for k in request.past),
        past_blocks=tuple(k.block for k in request.past),
        window_blocks=request.sight.window_blocks,
        prompt_blocks=request.sight.prompt_blocks,
    )


def _rows(request: Request, kept: Sequence[Kept]) -> tuple[HostRow, ...]:
    rows: list[HostRow] = []
    before = request.past[-1].page.index if request.past else ZERO_PAGE
    left = request.count * FRAMES_PER_TOKEN
    for at, own in enumerate(kept):
        seen = request.sight.of(own.block, (*request.past, *kept[:at]))
        frames = min(left, BLOCK_FRAMES)
        rows.append(
            HostRow(
                step=0,
                page=own.page.index,
                before=before,
                table=(*(k.page.index for k in seen), own.page.index),
                keys=len(seen) * BLOCK_FRAMES + frames,
                position=own.block * BLOCK_FRAMES,
                frames=frames,
            )
        )
        before, left = own.page.index, left - frames
    return tuple(rows)


def _in_blocks(frames: Tensor) -> Tensor:
    filling = -frames.shape[0] % BLOCK_FRAMES
    return F.pad(frames, (0, 0, 0, filling)).view(-1, BLOCK_FRAMES, frames.shape[1])
