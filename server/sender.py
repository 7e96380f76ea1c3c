"""Sends what is due: the first context's items, its packets by the play clock.

Knows: whose turn it is, when a packet is due, what each item becomes on the wire. Does not know:
requests, connections, what follows when a context has ended (its owner is told).
"""

from __future__ import annotations

from collections.abc import Callable

from server.context import Context
from server.events import Event, Levels
from server.lineup import Lineup
from server.metrics import Metrics
from server.outbox import Outbox
from server.output import LEVEL_STEP_MS, Audible, Ending, Item, LevelsAt
from server.pacing import PlayClock
from streaming.audio.packetizer import Packet
from streaming.clock import Clock, Timer
from streaming.samples import PTS_RATE

PACING_SLOP_S = 0.001
"""A packet that is due within this goes at once: a timer for it would be later than that."""


class Sender:
    """``pump`` after anything has changed; it sets its own timer for what comes later."""

    def __init__(
        self,
        lineup: Lineup,
        play: PlayClock,
        outbox: Outbox,
        clock: Clock,
        metrics: Metrics,
        on_end: Callable[[Context, Ending], None],
    ) -> None:
        self._lineup = lineup
        self._play = play
        self._outbox = outbox
        self._clock = clock
        self._metrics = metrics
        self._on_end = on_end
        self._timer: Timer | None = None
        self._pumping = False
        self._packet_s = 0.0
        """When the newest packet was sent."""

    def active_s(self, now_s: float) -> float:
        """When there was last anything to be said: not while who speaks waits for text."""
        head = self._lineup.head()
        working = head is not None and (head.ended or head.output.pending)
        return now_s if working else self._packet_s

    def pump(self) -> None:
        """Send what is due."""
        if self._pumping:
            return  # an item's sending has changed something: the loop below sees it
        self._pumping = True
        try:
            self._send_due()
        finally:
            self._pumping = False

    def stop(self) -> None:
        """Set no timer any more, until the next ``pump``."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send_due(self) -> None:
        self.stop()
        while self._outbox.can_write:
            context = self._lineup.head()
            if context is None:
                return
            now = self._clock.now()
            due_s = self._play.due_s(now)
            item = context.output.peek(due_s)
            if item is None:
                return
            if isinstance(item, Packet) and due_s > now + PACING_SLOP_S:
                self._timer = self._clock.call_at(due_s, self.pump)
                return
            context.output.pop()
            self._send(context, item, now)

    def _send(self, context: Context, item: Item, now: float) -> None:
        if isinstance(item, Packet):
            self._send_packet(context, item, now)
        elif isinstance(item, Event):
            self._outbox.event(item)
        elif isinstance(item, LevelsAt):
            at = Levels(
                ctx=context.id, pts_ms=item.pts_ms, step_ms=LEVEL_STEP_MS, values=item.values
            )
            self._outbox.event(at)
        elif isinstance(item, Audible):
            context.timer.audible(item.samples)
        else:
            self._on_end(context, item)

    def _send_packet(self, context: Context, packet: Packet, now: float) -> None:
        if context.starts_48k is None:
            context.starts_48k = self._play.sent
            context.timer.packet(now)
        self._packet_s = now
        size_bytes = self._outbox.packet(packet, context.sid)
        context.last_seq = self._outbox.seq
        late_s = self._play.on_sent(packet.duration_48k, now)
        if context.sent_48k:
            context.underrun_s = max(context.underrun_s, late_s)
        context.sent_48k += packet.duration_48k
        context.tell_engine(self._play.position(now))
        self._metrics.packet_sent(size_bytes, packet.duration_48k / PTS_RATE)
