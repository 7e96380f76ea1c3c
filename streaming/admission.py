"""Who may speak now, who waits at the door, who is refused: pure.

Two bounds: slots are memory, one a context; capacity is time, one a listener of a lane, since the
contexts of one session are heard one after another, and voices of another lane are computed
elsewhere. Memory is free when a context is made, time when it has been heard: what was made early
was made in time that others will miss. Whoever finds both free is admitted; else it waits where the
queue has room, for a bounded time, and is otherwise refused at once with a time to retry. The first
listener is never refused for capacity, nor because memory is short. Knows: who holds what, since
when. Does not know: what a slot is made of, how capacity is found.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from streaming.capacity import Caution, Known
from streaming.errors import Overloaded
from streaming.messages import Stats

LEAST_RETRY_MS = 100
MOST_RETRY_MS = 10_000
USUAL_STAY_S = 5.0
"""How long listeners are taken to stay until some have come and gone."""

NEWEST = 0.1
"""Weight of the newest stay in the average of stays."""

CROWD_S = 1.0
"""Everybody who was refused within this time is taken to be outside still, wanting to come in."""

LEAVING_S = 5.0
"""A slot of a context that was cancelled is waited for no longer than this."""


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
        self.short = ""
        """Why nobody new may come in beside whoever is there; empty: nothing speaks against it."""
        self._queue = queue
        self._queue_s = queue_s
        self._inside: dict[int, _Entry] = {}
        self._leaving: dict[int, float] = {}
        """Which of those inside were cancelled, and until when each one's slot is waited for."""
        self._heard: dict[int, _Entry] = {}
        """Contexts whose listeners have not heard all of them."""
        self._listeners: dict[str, Counter[str]] = {}
        self._waiting: dict[int, _Entry] = {}
        self._stay_s = USUAL_STAY_S
        self._known, self._caution = Known(), Caution()
        self._refusals: deque[float] = deque()
        """When somebody was refused, within the last ``CROWD_S``."""

    @property
    def free(self) -> int:
        """How many contexts more there is memory for."""
        return self.slots - len(self._inside)

    def listeners(self, lane: str = "") -> int:
        """How many the lane serves now."""
        return len(self._listeners.get(lane, ()))

    def most(self, lane: str = "") -> int:
        """How many it may serve."""
        known = self.capacity.get(lane, self.slots)
        return max(1, min(known, self._caution.most(lane)))

    @property
    def waiting(self) -> int:
        """How many contexts wait at the door."""
        return len(self._waiting)

    def offer(
        self,
        ctx: int,
        listener: str,
        now_s: float,
        lane: str = "",
        instead_of: Collection[int] = (),
    ) -> bool:
        """Whether the context is admitted now; if not, it waits.

        ``instead_of`` are contexts that will be cancelled when this one may speak or wait: it waits
        for the memory of one of them, whatever the queue's bound.

        Raises:
            Overloaded: it may not even wait; nothing was taken.
        """
        entry = _Entry(ctx, listener, lane, now_s)
        if self._fits(entry) and (self._is_served(entry) or not self._waits(lane)):
            self._admit(entry)
            return True
        soon = len(self._leaving.keys() | (self._inside.keys() & set(instead_of)))
        if len(self._waiting) >= self._queue and not (
            len(self._waiting) < self._queue + soon and self._fits(entry, soon)
        ):
            raise self.refusal(lane, now_s)
        self._waiting[ctx] = entry
        return False

    def leave(self, ctx: int, now_s: float) -> list[int]:
        """It was cancelled: another may be served, once ``give_back`` says that its slot is free.

        Returns who is admitted now.
        """
        if ctx in self._inside:
            self._leaving[ctx] = now_s + LEAVING_S
        self._count_out(ctx, now_s)
        return self.let_in()

    def finish(self, ctx: int) -> list[int]:
        """All of it is made, or nothing of it is under way any more: its slot is free.

        Its listener counts until ``give_back``. Returns who is admitted now.
        """
        self._free(ctx)
        return self.let_in()

    def give_back(self, ctx: int, now_s: float) -> list[int]:
        """Nothing is left of the context; returns who is admitted for it, in order."""
        self._waiting.pop(ctx, None)
        self._free(ctx)
        self._count_out(ctx, now_s)
        return self.let_in()

    def let_in(self) -> list[int]:
        """Who of those that wait is admitted now, in the order in which they came."""
        admitted = []
        full: set[str] = set()
        for entry in list(self._waiting.values()):
            if entry.lane in full and not self._is_served(entry):
                continue  # nobody overtakes, but who is heard already and those of another lane
            if not self._fits(entry):
                full.add(entry.lane)
                continue
            del self._waiting[entry.ctx]
            self._admit(entry)
            admitted.append(entry.ctx)
        return admitted

    def expired(self, now_s: float) -> dict[int, Overloaded]:
        """Who has waited for as long as anyone may, and what they are told; they wait no more.

        Then ``let_in`` should be asked, as slots of those that were cancelled may be free.
        """
        late = [each for each in self._waiting.values() if now_s >= self._until_s(each)]
        for entry in late:
            del self._waiting[entry.ctx]
        for ctx in [ctx for ctx, until_s in self._leaving.items() if now_s >= until_s]:
            self._free(ctx)
        return {entry.ctx: self.refusal(entry.lane, now_s) for entry in late}

    def next_expiry_s(self) -> float | None:
        """When ``expired`` should be asked next."""
        waits = map(self._until_s, self._waiting.values())
        return min([*waits, *self._leaving.values()], default=None)

    def forget_leaving(self) -> None:
        """Whoever held memory for those that were cancelled is gone."""
        for ctx in list(self._leaving):
            self._free(ctx)

    def learn(self, stats: Stats, now_s: float) -> None:
        """What steps have cost lately, and who was kept waiting."""
        late = {lane: self._kept(lane, stats.late) for lane in self._listeners}
        well = {lane: self.listeners(lane) for lane, kept in late.items() if not kept}
        self.capacity = self._known.take(stats.capacity, well, stats.busy_s, now_s)
        for lane, kept in late.items():
            known = self.capacity.get(lane, self.slots)
            self._caution.take(lane, kept, self.listeners(lane), known, now_s)

    def _kept(self, lane: str, late: Collection[int]) -> int:
        """How many of its listeners were kept waiting just now."""
        inside = (self._inside[ctx] for ctx in late if ctx in self._inside)
        return len({entry.listener for entry in inside if entry.lane == lane})

    def refusal(self, lane: str, now_s: float) -> Overloaded:
        """What somebody is told who may not come in, or has waited in vain.

        The more were refused lately, the later each of them should come again.
        """
        next_s = self._stay_s / max(1, self.listeners(lane))
        while self._refusals and self._refusals[0] < now_s - CROWD_S:
            self._refusals.popleft()
        next_s *= 1 + len(self._refusals)
        self._refusals.append(now_s)
        retry_ms = min(max(round(1000 * next_s), LEAST_RETRY_MS), MOST_RETRY_MS)
        if self.free <= 0:
            all_of_them = "the one context" if self.slots == 1 else f"all {self.slots} contexts"
            why = f"{all_of_them} of this server {_are(self.slots)} in use"
        elif self.short:
            why, retry_ms = self.short, MOST_RETRY_MS
        else:
            served = self.listeners(lane)
            listeners = "listener" if served == 1 else "listeners"
            why = f"{served} {listeners} {_are(served)} served, as many as can be in time"
        return Overloaded(why, retry_after_ms=retry_ms)

    def _until_s(self, entry: _Entry) -> float:
        return entry.since_s + self._queue_s

    def _waits(self, lane: str) -> bool:
        return any(entry.lane == lane for entry in self._waiting.values())

    def _is_served(self, entry: _Entry) -> bool:
        return entry.listener in self._listeners.get(entry.lane, ())

    def _fits(self, entry: _Entry, soon: int = 0) -> bool:
        """Whether there is room for it; ``soon``: so many slots more are about to be free."""
        if self.free + soon <= 0:
            return False
        if self._is_served(entry):
            return True
        if self.short and any(self._listeners.values()):
            return False
        return self.listeners(entry.lane) < self.most(entry.lane)

    def _admit(self, entry: _Entry) -> None:
        self._inside[entry.ctx] = self._heard[entry.ctx] = entry
        self._listeners.setdefault(entry.lane, Counter())[entry.listener] += 1

    def _free(self, ctx: int) -> None:
        self._inside.pop(ctx, None)
        self._leaving.pop(ctx, None)

    def _count_out(self, ctx: int, now_s: float) -> None:
        entry = self._heard.pop(ctx, None)
        if entry is None:
            return
        self._stay_s += NEWEST * (now_s - entry.since_s - self._stay_s)
        served = self._listeners[entry.lane]
        served[entry.listener] -= 1
        if not served[entry.listener]:
            del served[entry.listener]


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
