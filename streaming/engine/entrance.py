"""The engine's entrance: contexts go through its door, or wait there with all they have to say.

Knows: who was admitted, what is kept for who was not, when waiting has an end. Does not know: which
listener a context is, what a message means, how the engine is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from streaming.admission import Admission
from streaming.clock import Clock, LoopClock, Timer
from streaming.config import EngineSettings
from streaming.errors import CosystreamError
from streaming.host import MemoryGuard
from streaming.messages import Message, Stats


class Entrance:
    """Admission, with what it lets in and whom it turns away."""

    def __init__(
        self,
        settings: EngineSettings,
        to_engine: Callable[[Message], None],
        refuse: Callable[[int, CosystreamError], None],
        clock: Clock | None = None,
    ) -> None:
        """``refuse`` is called with a context that has waited in vain, and why."""
        self._settings = settings
        self._to_engine = to_engine
        self._refuse = refuse
        self._clock = clock
        self._door = Admission(
            settings.slots, queue=settings.queue, queue_s=settings.queue_ms / 1000
        )
        self._memory = MemoryGuard(settings.host_reserve_mib << 20)
        self._held: dict[int, list[Message]] = {}
        """For each context that waits: what the engine is told once it is admitted."""
        self._timer: Timer | None = None

    @property
    def free(self) -> int:
        """How many contexts more there is memory for."""
        return self._door.free

    # --- contexts --------------------------------------------------------------------------

    def offer(self, ctx: int, listener: str, lane: str, instead_of: Collection[int]) -> None:
        """Admit the context, or let it wait.

        Raises:
            Overloaded: it may not even wait; nothing was taken.
        """
        if not self._door.offer(ctx, listener, self._now_s(), lane, instead_of):
            self._held[ctx] = []
            self._watch()

    def tell(self, ctx: int, message: Message) -> None:
        """Tell the engine, now or, where the context still waits at the door, once it is in."""
        held = self._held.get(ctx)
        if held is None:
            self._to_engine(message)
        else:
            held.append(message)

    def release(self, ctx: int, *, cancelled: bool) -> None:
        """It is over; one that was ``cancelled`` holds memory until the engine has ``freed`` it."""
        if self._held.pop(ctx, None) is not None:
            self.let_go(ctx)
        elif cancelled:
            self._let_in(self._door.leave(ctx, self._now_s()))
        else:
            self.freed(ctx)

    def freed(self, ctx: int) -> None:
        """Its memory is free."""
        self._let_in(self._door.finish(ctx))

    def let_go(self, ctx: int) -> None:
        """Its listener has heard all of it."""
        self._let_in(self._door.give_back(ctx, self._now_s()))

    # --- the engine ------------------------------------------------------------------------

    def engine_came(self, slots: int) -> None:
        """The engine is there, and has so many slots."""
        self._door.slots = min(self._settings.slots, slots)

    def engine_went(self) -> None:
        """The engine is gone, and with it all that contexts held."""
        self._door.forget_leaving()

    def learn(self, stats: Stats) -> dict[str, int]:
        """Take in what the engine says of itself; returns how many each lane may serve now."""
        self._door.short = self._memory.short(stats.figures)
        if self._settings.capacity:
            self._door.capacity = stats.capacity
        else:
            self._door.learn(stats, self._now_s())
        most = {lane: self._door.most(lane) for lane in stats.capacity}
        self._let_in(self._door.let_in())
        return most

    # --- who waits -------------------------------------------------------------------------

    def _let_in(self, admitted: list[int]) -> None:
        for ctx in admitted:
            for message in self._held.pop(ctx):
                self._to_engine(message)
        self._watch()

    def _watch(self) -> None:
        """Set the timer for the next one that may wait no longer."""
        if self._timer is not None:
            self._timer.cancel()
        due_s = self._door.next_expiry_s()
        if due_s is not None:
            self._timer = self._running_clock().call_at(due_s, self._turn_away)

    def _turn_away(self) -> None:
        for ctx, refusal in self._door.expired(self._now_s()).items():
            self._refuse(ctx, refusal)
        self._let_in(self._door.let_in())

    def _now_s(self) -> float:
        return self._running_clock().now()

    def _running_clock(self) -> Clock:
        if self._clock is None:
            self._clock = LoopClock()
        return self._clock
