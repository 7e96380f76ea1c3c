"""When a packet may go out: the listener's play clock, estimated.

Knows: how much was sent, when, and what the client reports. Does not know: packets, sockets,
contexts, or the time (it is handed in). All positions are samples at 48 kHz on one timeline a
session, over all its contexts one after another.
"""

from __future__ import annotations

from streaming.samples import PTS_RATE

DRY_GRACE_S = 0.1
"""A packet this late is taken to be covered by the listener's jitter buffer; by a later one, the
listener has run dry."""
REPORT_FRESH_S = 2.0
"""A client's report steers the clock for so long; then the wall clock takes over."""


class PlayClock:
    """How far the listener has heard, and when the next packet is due.

    ``lead_ms`` is how far a packet's *start* may lie ahead of the listener; ``None`` means that
    nothing is paced, and the listener is taken to have had whatever was sent.
    """

    def __init__(self, lead_ms: int | None) -> None:
        self._lead = None if lead_ms is None else lead_ms * PTS_RATE // 1000
        self._sent = 0
        self._base = 0
        self._base_s: float | None = None
        self._reported_s: float | None = None
        self._paused = False

    @property
    def sent(self) -> int:
        """Samples handed to the socket since the session began."""
        return self._sent

    def position(self, now_s: float) -> int:
        """Samples heard by now; never more than were sent."""
        if self._lead is None:
            return self._sent
        if self._base_s is None or self._paused:
            return self._base
        return min(self._sent, self._base + int((now_s - self._base_s) * PTS_RATE))

    def due_s(self, now_s: float) -> float:
        """The moment the next packet may be sent; ``now_s`` or earlier means now."""
        if self._lead is None or self._base_s is None:
            return now_s
        return self._base_s + (self._sent - self._base - self._lead) / PTS_RATE

    def on_sent(self, samples: int, now_s: float) -> float:
        """A packet of so many samples was handed to the socket; seconds it came too late."""
        dry_s = 0.0
        if self._base_s is None:
            self._base, self._base_s = self._sent, now_s
        elif self._lead is not None:
            dry_s = now_s - (self._base_s + (self._sent - self._base) / PTS_RATE)
            if dry_s > DRY_GRACE_S:
                self._base, self._base_s = self._sent, now_s
        self._sent += samples
        return max(0.0, dry_s)

    def on_report(self, position: int, now_s: float) -> None:
        """The client says it has heard so much; no more counts than was sent."""
        self._base, self._base_s = max(0, min(position, self._sent)), now_s
        self._reported_s = now_s

    def reported(self, now_s: float) -> bool:
        """Whether ``position`` rests on a fresh report of the client."""
        return self._reported_s is not None and now_s - self._reported_s <= REPORT_FRESH_S

    def forget_unheard(self, samples: int) -> None:
        """So many of the sent samples will not be heard: they were cancelled."""
        self._sent = max(self._base, self._sent - samples)

    def pause(self, now_s: float) -> None:
        """The connection is lost: the clock stands."""
        if not self._paused:
            self._base = self.position(now_s)
            self._paused = True

    def resume(self, now_s: float) -> None:
        """The listener is back and plays on from where the clock stood."""
        self._paused = False
        if self._base_s is not None:
            self._base_s = now_s
