"""What one context looked like to its listener. Pure: time and packets are handed in.

Figures are those of docs/glossary.md: *first packet* counts from the delta that completed the first
segment, an *underrun* is how late a packet was for a listener who began to play with the first.
Where the server lets a segment go on seeing what follows it, that wait is counted as the server's.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

PTS_PER_MS = 48
"""Packet timestamps are in samples at 48 kHz."""

KEPT_PACKETS = 3
"""Packets kept to look for the first audible sample; at most 20 ms of silence come before it."""


@dataclass(frozen=True)
class Record:
    """One context that is over.

    ``outcome`` is done, cancelled, refused, failed, or cut (the run ended).
    """

    outcome: str
    first_packet_ms: float | None
    first_delta_ms: float | None
    """As ``first_packet_ms``, but from the very first delta."""
    worst_underrun_ms: float
    audio_ms: float
    server_first_packet_ms: float | None
    pause_ms: float | None
    """Silence between the end of the session's context before it and this one; negative: none."""
    cancel_ms: float | None
    refused_ms: float | None
    """From asking for the context to the server's no, time in its queue included."""
    head: tuple[bytes, ...]
    """The first packets."""


@dataclass
class Meter:
    """A context while it speaks."""

    opened_s: float = 0.0
    """When it was asked for."""
    sent: list[tuple[int, float]] = field(default_factory=list)
    """Characters sent so far and when, one a delta."""
    first_s: float | None = None
    worst_underrun_ms: float = 0.0
    holes: int = 0
    packets: list[bytes] = field(default_factory=list)
    cancel_sent_s: float | None = None
    _first_pts: int = 0
    _next_pts: int = 0
    _first_segment_end: int | None = None

    def delta_sent(self, chars: int, now_s: float) -> None:
        """So many more characters went out."""
        before = self.sent[-1][0] if self.sent else 0
        self.sent.append((before + chars, now_s))

    def first_segment(self, char_end: int) -> None:
        """The server said where its first segment ends."""
        self._first_segment_end = char_end

    def packet(self, pts: int, samples: int, payload: bytes, now_s: float) -> None:
        """A packet of ``samples`` at 48 kHz, the first of which is the context's ``pts``-th."""
        if self.first_s is None:
            self.first_s, self._first_pts = now_s, pts
        elif pts != self._next_pts:
            self.holes += 1
        self._next_pts = pts + samples
        if len(self.packets) < KEPT_PACKETS:
            self.packets.append(payload)
        due_s = self.first_s + (pts - self._first_pts) / PTS_PER_MS / 1000
        self.worst_underrun_ms = max(self.worst_underrun_ms, (now_s - due_s) * 1000)

    @property
    def audio_ms(self) -> float:
        """Audio received."""
        return (self._next_pts - self._first_pts) / PTS_PER_MS

    def _complete_s(self) -> float | None:
        """When the delta that completed the first segment went out."""
        if not self.sent:
            return None
        if self._first_segment_end is None:
            return self.sent[-1][1]
        index = bisect_left(self.sent, (self._first_segment_end, 0.0))
        return self.sent[min(index, len(self.sent) - 1)][1]

    def record(
        self,
        outcome: str,
        *,
        now_s: float,
        silent_since_s: float | None = None,
        audio_ms: float | None = None,
        server_first_packet_ms: float | None = None,
    ) -> Record:
        """What it came to; ``silent_since_s`` is when the session's earlier audio ended."""
        return Record(
            outcome=outcome,
            first_packet_ms=_between_ms(self._complete_s(), self.first_s),
            first_delta_ms=_between_ms(self.sent[0][1] if self.sent else None, self.first_s),
            worst_underrun_ms=self.worst_underrun_ms,
            audio_ms=self.audio_ms if audio_ms is None else audio_ms,
            server_first_packet_ms=server_first_packet_ms,
            pause_ms=_between_ms(silent_since_s, self.first_s),
            cancel_ms=_between_ms(self.cancel_sent_s, now_s) if outcome == "cancelled" else None,
            refused_ms=_between_ms(self.opened_s, now_s) if outcome == "refused" else None,
            head=tuple(self.packets),
        )


def _between_ms(start_s: float | None, stop_s: float | None) -> float | None:
    return None if start_s is None or stop_s is None else (stop_s - start_s) * 1000
