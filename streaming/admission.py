"""How many contexts may be active at once.

Knows: who holds a slot. Does not know: what a slot is made of.
"""

from __future__ import annotations

from streaming.errors import Overloaded

RETRY_AFTER_MS = 1000


class Slots:
    """A bounded set of holders; giving back what is not held is harmless."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._held: set[int] = set()

    @property
    def free(self) -> int:
        """How many more could be taken."""
        return self.count - len(self._held)

    def take(self, holder: int) -> None:
        """Give ``holder`` a slot.

        Raises:
            Overloaded: there is none; nothing was taken.
        """
        if self.free <= 0:
            raise Overloaded(
                f"all {self.count} contexts of this server are in use",
                retry_after_ms=RETRY_AFTER_MS,
            )
        self._held.add(holder)

    def give_back(self, holder: int) -> None:
        """The holder has ended, in whatever way."""
        self._held.discard(holder)
