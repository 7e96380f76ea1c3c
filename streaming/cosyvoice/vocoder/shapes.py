"""The shapes that steps of the vocoder come in, so that they can be captured.

A batch is filled up to one of few shapes; a large one goes in several parts, since on a GPU a shape
that was never met costs more than a step: cuDNN plans anew for each. Knows: numbers. Does not know:
networks, devices.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

ROWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)

MOST_FRAMES = 2000
"""Rows times frames that are worth capturing. A frame is about 0.6 GFLOP at the published size:
so many keep the quickest cards busy for longer than Python needs to launch them."""


@dataclass(frozen=True)
class Shapes:
    """Numbers of rows and of frames, ascending; none: every batch is left as it is."""

    rows: tuple[int, ...] = ()
    frames: tuple[int, ...] = ()
    most_frames: int = MOST_FRAMES

    def of(self, rows: int, frames: int) -> tuple[int, int] | None:
        """The least shape that holds so many rows and frames, or None where none does."""
        wide, long = bisect_left(self.rows, rows), bisect_left(self.frames, frames)
        if wide == len(self.rows) or long == len(self.frames):
            return None
        shape = self.rows[wide], self.frames[long]
        return shape if self._holds(*shape) else None

    def most_rows(self, frames: int) -> int | None:
        """The most rows of so many frames that one of the shapes holds; None: none holds any."""
        long = bisect_left(self.frames, frames)
        if long == len(self.frames):
            return None
        fitting = (rows for rows in self.rows if self._holds(rows, self.frames[long]))
        return max(fitting, default=None)

    def all(self, rows: int) -> list[tuple[int, int]]:
        """Those that up to so many rows meet, the largest first: others then use its memory."""
        wide = self.rows[: bisect_left(self.rows, rows) + 1]
        found = [(count, frames) for count in wide for frames in self.frames]
        return sorted(
            (shape for shape in found if self._holds(*shape)),
            key=lambda shape: shape[0] * shape[1],
            reverse=True,
        )

    def _holds(self, rows: int, frames: int) -> bool:
        return rows * frames <= self.most_frames
