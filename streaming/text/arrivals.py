"""When the pending text came, so that none of it waits too long.

Knows: positions and times. Does not know: the text.
"""

from __future__ import annotations

from collections import deque


class Arrivals:
    """For each delta that is still pending, where it ends in the context and when it came."""

    def __init__(self) -> None:
        self._ends: deque[tuple[int, float]] = deque()

    def add(self, end: int, now_s: float) -> None:
        """Text up to ``end`` has come."""
        self._ends.append((end, now_s))

    def oldest_s(self, begin: int) -> float | None:
        """When the character at ``begin`` came; what is before it is forgotten."""
        while self._ends and self._ends[0][0] <= begin:
            self._ends.popleft()
        return self._ends[0][1] if self._ends else None

    def end_by(self, moment_s: float) -> int:
        """Up to where the text had come by that moment."""
        return max((end for end, came_s in self._ends if came_s <= moment_s), default=0)
