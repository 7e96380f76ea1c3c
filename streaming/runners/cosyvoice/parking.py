"""Where pages run out: contexts that nobody waits for now leave theirs to the host for a while.

Who rests (its listener is away, or far behind) goes first that has the most time left and is
between two hops. One in the midst of a hop gives up what it has of it, and begins it anew later.
The engine's thread says who is there and whose step is launched; the flow's thread moves. Knows:
who may be moved. Does not know: when memory is short, or how pages are copied.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from streaming.cosyvoice.flow.host import OutOfHostMemory
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.values import FlowState
from streaming.runners.base import Work
from streaming.runners.cosyvoice.copy_log import NOTHING_KEPT, TO_DEVICE, TO_HOST, CopyLog
from streaming.runners.cosyvoice.rhythm import FLOW
from streaming.runners.cosyvoice.utterance import Utterance


class Parking:
    """The segments that are spoken now, and which of them are away."""

    def __init__(
        self, flow: Flow, free_host: Callable[[], int], copies: CopyLog = NOTHING_KEPT
    ) -> None:
        """``free_host`` frees some of the host's memory that is less needed; returns how much."""
        self._flow = flow
        self._free_host = free_host
        self._copies = copies
        self._works: dict[int, Work] = {}
        """By context."""
        self._under_way: set[Utterance] = set()
        self._claiming = threading.Lock()
        """Held for moments: nothing is launched while it is moved, nor moved while under way."""

    # --- in the engine's thread ------------------------------------------------------------

    def add(self, work: Work) -> None:
        """A segment is begun."""
        self._works[work.ctx] = work

    def drop(self, row: Utterance) -> None:
        """It is over."""
        with self._claiming:
            self._under_way.discard(row)
            self._works.pop(row.ctx, None)

    def launch(self, rows: Iterable[Utterance]) -> None:
        """From now on a step of theirs is under way."""
        with self._claiming:
            self._under_way.update(rows)

    def land(self, rows: Iterable[Utterance]) -> None:
        """It has come to its end."""
        with self._claiming:
            self._under_way.difference_update(rows)

    # --- in the flow's thread --------------------------------------------------------------

    def make_room(self) -> int:
        """Move one context, and tell how many bytes of the device that freed; 0: there is none."""
        if not self._flow.host.allowed:
            return 0
        resting = [work for work in list(self._works.values()) if work.parked]
        resting.sort(key=_costs_least)
        return next((freed for work in resting if (freed := self._move(work))), 0)

    def back(self, state: FlowState, ctx: int) -> FlowState:
        """With its pages on the device; raises ``OutOfPages``."""
        if state.on_host is None:
            return state
        size = state.on_host.away.copied_bytes
        with self._copies.copying(FLOW, TO_DEVICE, (ctx,), size):
            return self._flow.to_device(state)

    def _move(self, work: Work) -> int:
        row: Utterance | None = work.state
        if row is None:  # it is being begun
            return 0
        with self._claiming:
            if row in self._under_way:
                return 0
            freed = _give_up_hop(row)
            state = row.flow
        if state is None or not state.kept:
            return freed
        away = self._copied(state, row.ctx)
        if away is None:
            return freed
        with self._claiming:
            if self._works.get(row.ctx) is work:  # else it ended meanwhile
                row.flow = away
        return freed + state.bytes

    def _copied(self, state: FlowState, ctx: int) -> FlowState | None:
        while True:
            try:
                with self._copies.copying(FLOW, TO_HOST, (ctx,), state.bytes):
                    return self._flow.to_host(state)
            except OutOfHostMemory:
                if not self._free_host():
                    return None


def _costs_least(work: Work) -> tuple[bool, float]:
    """Lowest first: who is between two hops, then who has the most time left."""
    row: Utterance | None = work.state
    return row is not None and row.hop is not None, -work.slack_s


def _give_up_hop(row: Utterance) -> int:
    """How many bytes that frees. What the hop was to say is still there, and is begun anew."""
    if row.flow is None or row.hop is None:
        return 0
    pages = len(row.hop.run.kept)
    row.hop = None
    row.progress.undo_begin()
    return pages * row.flow.voice.page_bytes
