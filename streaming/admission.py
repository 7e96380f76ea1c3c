"""Who may speak now, who waits at the door, who is refused: pure.

Two bounds: slots are memory, one a context; capacity is time, one a listener of a lane, since the
contexts of one session are heard one after another, and voices of another lane are computed
elsewhere. Whoever finds both free is admitted; else it waits where the queue has room, for a
bounded time, and is otherwise refused at once with a time to retry. A lane's first listener is
never refused for capacity. Knows: who holds what, since when. Does not know: what a slot is made
of, how capacity is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from streaming.errors import Overloaded

LEAST_RETRY_MS = 100
MOST_RETRY_MS = 10_000
USUAL_STAY_S = 5.0
"""How long a listener is taken to stay before any has left."""

NEWEST = 0.1
"""Weight of the newest stay in the average."""


@dataclass(frozen=True)
class _Entry:
    ctx: int
    listener: str
    lane: str
    since_s: float


class Admission:
    """A door with a bounded queue; to give back what is not held is harmless."""

    def __init__(self, slots: int, *, queue: int = 0, queue_s: float = 0.0) -> None:
        self.slots = slots
        self.capacity: Mapping[str, int] = {}
        """Listeners that each lane can serve in time, set anew as costs are learned; a lane that is
        not there has no bound."""
        self._queue = queue
        self._queue_s = queue_s
        self._inside: dict[int, _Entry] = {}
        self._listeners: dict[str, Counter[str]] = {}
        self._waiting: dict[int, _Entry] = {}
        self._stay_s = USUAL_STAY_S

    @property
    def free(self) -> int:
        """How many contexts more there is memory for."""
        return self.slots - len(self._inside)

    def listeners(self, lane: str = "") -> int:
        """How many the lane serves now."""
        return len(self._listeners.get(lane, ()))

    @property
    def waiting(self) -> int:
        """How many contexts wait at the door."""
        return len(self._waiting)

    def offer(self, ctx: int, listener: str, now_s: float, lane: str = "") -> bool:
        """Whether the context is admitted now; if not, it waits.

        Raises:
            Overloaded: it may not even wait; nothing was taken.
        """
        entry = _Entry(ctx, listener, lane, now_s)
        if not self._waiting and self._fits(entry):
            self._admit(entry)
            return True
        if len(self._waiting) >= self._queue:
            raise self.refusal(lane)
        self._waiting[ctx] = entry
        return False

    def give_back(self, ctx: int, now_s: float) -> list[int]:
        """The context has ended, in whatever way; returns who is admitted for it, in order."""
        self._waiting.pop(ctx, None)
        entry = self._inside.pop(ctx, None)
        if entry is not None:
            self._leave(entry, now_s)
        return self.let_in()

    def let_in(self) -> list[int]:
        """Who of those that wait is admitted now, in the order in which they came."""
        admitted = []
        for entry in list(self._waiting.values()):
            if not self._fits(entry):
                break  # nobody overtakes
            del self._waiting[entry.ctx]
            self._admit(entry)
            admitted.append(entry.ctx)
        return admitted

    def expired(self, now_s: float) -> list[int]:
        """Who has waited for as long as anyone may; they wait no more."""
        late = [each.ctx for each in self._waiting.values() if now_s >= self._until_s(each)]
        for ctx in late:
            del self._waiting[ctx]
        return late

    def next_expiry_s(self) -> float | None:
        """When ``expired`` should be asked next."""
        return min(map(self._until_s, self._waiting.values()), default=None)

    def refusal(self, lane: str = "") -> Overloaded:
        """What one is told that may not come in, or has waited in vain."""
        next_s = self._stay_s / max(1, self.listeners(lane))
        retry_ms = min(max(round(1000 * next_s), LEAST_RETRY_MS), MOST_RETRY_MS)
        if self.free <= 0:
            return Overloaded(
                f"all {self.slots} contexts of this server are in use", retry_after_ms=retry_ms
            )
        return Overloaded(
            f"{self.listeners(lane)} listeners are served, as many as can be in time",
            retry_after_ms=retry_ms,
        )

    def _until_s(self, entry: _Entry) -> float:
        return entry.since_s + self._queue_s

    def _fits(self, entry: _Entry) -> bool:
        if self.free <= 0:
            return False
        served: Mapping[str, int] = self._listeners.get(entry.lane, {})
        most = self.capacity.get(entry.lane, self.slots)
        return entry.listener in served or len(served) < max(1, most)

    def _admit(self, entry: _Entry) -> None:
        self._inside[entry.ctx] = entry
        self._listeners.setdefault(entry.lane, Counter())[entry.listener] += 1

    def _leave(self, entry: _Entry, now_s: float) -> None:
        self._stay_s += NEWEST * (now_s - entry.since_s - self._stay_s)
        served = self._listeners[entry.lane]
        served[entry.listener] -= 1
        if not served[entry.listener]:
            del served[entry.listener]
