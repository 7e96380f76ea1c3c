"""Keys and values of every slot, allocated once.

A slot is one context's; after the last one come scratch rows, where padding goes and where a
voice's prefix is made. Each row has one position more than can be used, for what must not be
written anywhere. A slot that is given up is wiped: a value that is masked still counts when it is
not finite (0 x NaN is NaN), and nothing of a context shall outlive it.
Does not know: who holds a slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from streaming.cosyvoice.sizes import LlmSizes
from streaming.cosyvoice.tiles import Tiles

ROW_STEP = 8
"""Rows come in multiples of this, so that a padded batch can be a plain slice."""

TILE_POSITIONS = 64
"""Of a slot's positions, so many are a tile."""


@dataclass(frozen=True)
class Kept:
    """Keys and values of the first positions of a row, (layers, positions, kv heads, size)."""

    keys: Tensor
    values: Tensor

    @property
    def positions(self) -> int:
        """How many positions these are."""
        return self.keys.shape[1]

    @property
    def bytes(self) -> int:
        """What they hold of the device's memory."""
        return self.keys.nbytes + self.values.nbytes


class KvCache:
    """``keys`` and ``values``: (layers, rows, positions + 1, kv heads, head size)."""

    def __init__(
        self, sizes: LlmSizes, slots: int, positions: int, device: torch.device, dtype: torch.dtype
    ) -> None:
        self.slots = slots
        self.positions = positions
        self.rows = -(-(slots + 1) // ROW_STEP) * ROW_STEP
        shape = (
            sizes.layers,
            self.rows,
            positions + 1,
            sizes.kv_heads,
            sizes.hidden // sizes.heads,
        )
        self.keys = torch.zeros(shape, device=device, dtype=dtype)
        self.values = torch.zeros(shape, device=device, dtype=dtype)

    @property
    def scratch(self) -> int:
        """A row that is no context's."""
        return self.slots

    @property
    def nowhere(self) -> int:
        """The position that is never read."""
        return self.positions

    @property
    def bytes(self) -> int:
        """What all of it holds."""
        return self.keys.nbytes + self.values.nbytes

    @property
    def bytes_per_position(self) -> int:
        """What one position of one slot holds."""
        return self.bytes // (self.rows * (self.positions + 1))

    def tiles(self, slots: Tensor, positions: Tensor) -> Tiles:
        """What tokens at ``positions`` (N,) of ``slots`` (N,) see of a layer, themselves too."""
        _, row, key, head, _ = self.keys.stride()
        first = torch.arange(0, self.positions, TILE_POSITIONS, device=slots.device)
        return Tiles(
            begins=slots[:, None] * row + first * key,
            lengths=positions + 1,
            keys=TILE_POSITIONS,
            head_stride=head,
            key_stride=key,
        )

    def write(self, layer: int, slots: Tensor, at: Tensor, keys: Tensor, values: Tensor) -> None:
        """Put (N, kv heads, size) at positions ``at`` (N,) of ``slots`` (N,)."""
        self.keys[layer][slots, at] = keys
        self.values[layer][slots, at] = values

    def keep(self, slot: int, positions: int) -> Kept:
        """A copy of a row's beginning."""
        keys, values = self.keys[:, slot, :positions], self.values[:, slot, :positions]
        return Kept(keys.clone(), values.clone())

    def restore(self, slot: int, kept: Kept) -> None:
        """Begin a row with what was kept."""
        self.keys[:, slot, : kept.positions] = kept.keys
        self.values[:, slot, : kept.positions] = kept.values

    def wipe(self, slot: int, positions: int) -> None:
        """Make the row's beginning as it was when the cache was new."""
        self.keys[:, slot, :positions] = 0
        self.values[:, slot, :positions] = 0
