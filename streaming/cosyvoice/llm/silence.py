"""Version 3's long silences are shortened: of a run of silent tokens the first five stay.

Source: the official token list and limit. The model itself still sees every token.
"""

from __future__ import annotations

from streaming.cosyvoice.sizes import Generation

SILENT_TOKENS = frozenset({1, 2, 28, 29, 55, 248, 494, 2241, 2242, 2322, 2323})
LONGEST_RUN = 5


class Silences:
    """One context's run of silent tokens."""

    def __init__(self, generation: Generation) -> None:
        self._silent = SILENT_TOKENS if generation == "cosyvoice3" else frozenset[int]()
        self._run = 0

    def keeps(self, token: int) -> bool:
        """Whether this token is heard; to be asked of each in order."""
        self._run = self._run + 1 if token in self._silent else 0
        return self._run <= LONGEST_RUN
