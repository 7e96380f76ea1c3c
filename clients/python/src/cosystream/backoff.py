"""How long to wait before connecting again: longer each time, and never all at once.

Knows: arithmetic. Does not know: time or sockets.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Backoff:
    """Waits that grow from ``first_s`` by ``factor`` to ``max_s``.

    Each is drawn evenly from its upper half: a thousand clients that lost one server do not come
    back in one instant.
    """

    first_s: float = 0.1
    factor: float = 2.0
    max_s: float = 3.0

    def waits_s(self) -> Iterator[float]:
        """The waits, without end."""
        longest_s = self.first_s
        while True:
            yield random.uniform(longest_s / 2, longest_s)  # noqa: S311 - spreads load, no secret
            longest_s = min(self.max_s, longest_s * self.factor)
