"""How long a context's first packet took, measured as ``docs/protocol.md`` section 4 says.

Knows: moments and character counts. Does not know: what happens in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class FirstPacketTimer:
    """Moments of one context, in seconds of the server's clock."""

    _deltas: list[tuple[int, float]] = field(default_factory=list)
    _releases: list[tuple[int, float]] = field(default_factory=list)
    _first_delta_s: float | None = None
    _trigger_s: float | None = None
    _audible_ms: float | None = None
    first_packet_ms: float | None = None
    first_delta_to_packet_ms: float | None = None

    @property
    def ttfa_ms(self) -> float | None:
        """To the first sample that can be heard."""
        if self.first_packet_ms is None or self._audible_ms is None:
            return None
        return round(self.first_packet_ms + self._audible_ms, 1)

    def text(self, chars_so_far: int, now_s: float) -> None:
        """A delta came; with it the context has so many characters."""
        if self._first_delta_s is None:
            self._first_delta_s = now_s
        if self._trigger_s is None:
            self._deltas.append((chars_so_far, now_s))

    def release(self, chars_so_far: int, now_s: float) -> None:
        """A flush or the end came."""
        again = bool(self._releases) and self._releases[-1][0] == chars_so_far
        if self._trigger_s is None and not again:  # the first of them let that text go
            self._releases.append((chars_so_far, now_s))

    def first_segment(self, char_end: int) -> None:
        """The first segment ends at that character: find what completed it."""
        if self._trigger_s is not None:
            return
        moments = [at for chars, at in self._releases if chars == char_end]
        moments += [at for chars, at in self._deltas if chars >= char_end]
        self._trigger_s = moments[0] if moments else self._first_delta_s
        self._deltas.clear()
        self._releases.clear()

    def packet(self, now_s: float) -> None:
        """A packet goes to the socket; only the first one counts."""
        if self.first_packet_ms is not None or self._trigger_s is None:
            return
        self.first_packet_ms = _ms(now_s - self._trigger_s)
        if self._first_delta_s is not None:
            self.first_delta_to_packet_ms = _ms(now_s - self._first_delta_s)

    def audible(self, offset_samples: int) -> None:
        """The first sample that can be heard lies so far into the audio (24 kHz)."""
        if self._audible_ms is None:
            self._audible_ms = offset_samples / 24


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
