"""What is said between the solver and a generation's network.

A *block* is 25 speech tokens, 50 mel frames, counted from the start of the prompt; a frame sees
all frames up to the end of its own block. What later blocks need of a block (keys and values,
the left context of convolutions, for each Euler step and both guidance rows) is written into its
*page* and never changes, so a context is a list of pages.

Knows: shapes. Does not know: any network, where pages come from, or who asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

GUIDANCE_ROWS = 2
"""Row 0 is conditioned on tokens, prompt and speaker, row 1 on nothing."""

ZERO_PAGE = 0
"""Reserved: always zero. It stands before a context's first block, and fills tables."""

SCRAP_PAGE = 1
"""Reserved: rows that only fill a batch up write here; nobody reads it."""


@dataclass(frozen=True)
class FlowPrompt:
    """A recording, as the flow needs it: ``mel`` (2 * tokens, 80), ``embedding`` (192,)."""

    tokens: tuple[int, ...]
    mel: Tensor
    embedding: Tensor


@dataclass(frozen=True)
class Shelf:
    """One array of the pool: its shape is ``(*lead, pages, *page)``."""

    lead: tuple[int, ...]
    page: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class Piece:
    """A run of blocks of one context, to be encoded once, before the Euler steps.

    ``tokens`` holds ``before`` tokens (0 at the start, else 2) that come before the run, the run,
    then ``after`` (3, or 0 where the context ends) that follow it: the lookahead.
    """

    tokens: Tensor
    """(before + run + after,), int64, on the network's device."""
    before: int
    after: int
    block: int
    """The run's first block, counted from the start of the prompt."""
    pages: tuple[int, ...]
    """One a block of the run; the last block may be short where the context ends."""
    past: tuple[int, ...]
    """Pages of the blocks before it that are still kept, oldest first."""
    past_blocks: tuple[int, ...]
    """Which blocks those are: a window leaves a hole after the prompt's."""
    window_blocks: int | None = None
    """A block sees the prompt's blocks and this many before itself; None: all."""
    prompt_blocks: int = 0
    """How many of ``past`` are the prompt's, which no window hides."""


@dataclass(frozen=True)
class Rows:
    """One Euler step of B blocks, of one or many contexts: all a network may look at.

    Rows of one context are consecutive and in order. All tensors are on the network's device.
    ``host`` repeats in plain numbers what a network that loops over rows would otherwise have to
    ask the device for; one whose step is captured as a graph uses the tensors alone.
    """

    x: Tensor
    """(B, 50, 80) float32: the state of the equation. Frames past a short block's end are 0."""
    given: Tensor
    """(B, 50, ...) what ``Network.given`` made of the conditions."""
    step: Tensor
    """(B,) int64: a row's own Euler step, 0 to 9."""
    page: Tensor
    """(B,) int64: where this block's keeps go."""
    before: Tensor
    """(B,) int64: the page of the block before it; it may be a row of this same batch."""
    table: Tensor
    """(B, T) int64: pages of every block it sees, its own the last; then ``ZERO_PAGE``."""
    keys: Tensor
    """(B,) int64: frames it sees: the first ``keys`` of the table's 50 * T."""
    position: Tensor
    """(B,) int64: its first frame, counted from the start of the prompt."""
    host: Sequence[HostRow]


@dataclass(frozen=True)
class HostRow:
    """One row of :class:`Rows` in plain numbers."""

    step: int
    page: int
    before: int
    table: tuple[int, ...]
    """Without filling."""
    keys: int
    position: int
    frames: int
    """How many of the block's 50 frames exist."""


class Network(Protocol):
    """What a generation brings: its weights made ready for one device and precision."""

    @property
    def device(self) -> torch.device:
        """Where weights and pages are."""
        ...

    @property
    def shelves(self) -> Mapping[str, Shelf]:
        """The arrays a page consists of."""
        ...

    def speaker(self, embedding: Tensor) -> Tensor:
        """(192,) to (80,): the speaker, as the flow knows it."""
        ...

    def encode(self, piece: Piece, shelves: Mapping[str, Tensor]) -> Tensor:
        """The tokens of a run as frames, (2 * run, 80); keeps what later runs need in its pages."""
        ...

    def given(self, mu: Tensor, mel: Tensor, speaker: Tensor) -> Tensor:
        """What does not change from one Euler step to the next: (blocks, 50, ...).

        ``mu`` and ``mel`` (the prompt's frames, then 0) are (blocks, 50, 80), filled with 0.
        """
        ...

    def velocity(self, rows: Rows, shelves: Mapping[str, Tensor]) -> Tensor:
        """(B, 2, 50, 80) float32: the slope for both guidance rows.

        First writes each row's keeps for its Euler step into its page, the whole of it, then
        reads those of the pages before. Rows change nothing of each other's.
        """
        ...
