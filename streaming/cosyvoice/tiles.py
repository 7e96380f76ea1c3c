"""Where the keys and values lie that a batch attends to: in tiles, anywhere in memory.

A page of the flow is a tile, and so is a stretch of one of the language model's slots. Knows:
places, and what a kernel that finds them must do. Does not know: the kernels, what is kept there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True)
class Tiles:
    """What each row of a batch sees, where it lies; keys and values lie alike, one of each."""

    begins: Tensor
    """(R, T) int64: how many numbers lie before each tile of a row, in its first head."""
    lengths: Tensor
    """(R,) int64: the keys a row sees, at least one; all of its tiles are full but the last."""
    keys: int
    """In a full tile."""
    head_stride: int
    """Numbers from one head's tile to the next head's."""
    key_stride: int
    """Numbers from one key to the next."""


class Kernels(Protocol):
    """Steps of attention that copy nothing side by side."""

    def attend(self, query: Tensor, keys: Tensor, values: Tensor, tiles: Tiles) -> Tensor:
        """Softmax of query by key over the root of the size, times the values.

        ``query`` is (R, groups, heads, queries, size), its numbers beside each other in the last
        alone; the result is (R, groups, queries, heads, size). ``keys`` and ``values`` are what
        ``tiles`` finds its way in.
        """
        ...

    def keep(self, qkv: Tensor, turn: Tensor | None, shelf: Tensor, begins: Tensor) -> None:
        """Put keys and values of whole tiles where they belong, and turn what is to be turned.

        ``qkv`` is (R, groups, queries, 3, heads, size). ``turn`` holds cosines and sines for
        neighbouring pairs of each query and key of a group's first head, (2, R, queries, size / 2)
        float32: queries are turned where they are, keys on their way. ``shelf`` is
        (2, ..., heads of all groups, places, queries, size), and ``begins`` (R,) int64 says how
        many numbers lie before a row's tile in its first half.
        """
        ...
