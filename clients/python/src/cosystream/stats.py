"""What a listener at this end would have heard, and when: measured, not reported.

Knows: moments (handed in, seconds on a clock that never goes back) and positions. Does not know:
sockets. Played from the first packet: a packet is heard when the one before it is over, or when it
arrives, whichever is later. The time a slow writer of text takes shows as underrun too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cosystream.events import AudioFormat, Done, SegmentEvent
from cosystream.loudness import BYTES_PER_SAMPLE, first_audible


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Times in ms; None where there was no audio or, for ``rtf``, no ``done``."""

    first_packet_ms: float | None
    """From sending the delta that completes the first segment (or flush, or end)."""
    ttfa_ms: float | None
    """The same, to when the first audible sample (-46 dBFS) is played. For Opus, which is not
    decoded here: ``first_packet_ms`` plus what the server says of the silence before it."""
    audio_ms: float
    worst_underrun_ms: float
    packets: int
    rtf: float | None
    """Compute seconds / audio seconds, as the server reports it."""
    first_delta_to_packet_ms: float | None
    """From sending the very first text."""
    connect_ms: float | None
    """Setting up the connection, until ``ready``; in none of the others."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON; times rounded to a microsecond."""
        return {
            key: round(value, 3) if isinstance(value, float) and key != "rtf" else value
            for key, value in asdict(self).items()
        }


@dataclass(frozen=True, slots=True)
class _Sent:
    now_s: float
    release: bool
    """A flush or end, rather than text."""
    chars: int
    """Code points of text so far."""
    chars_spoken: int
    """The same without blanks at the end."""


class Meter:
    """Is told what one context sends and receives; says what it amounted to."""

    def __init__(self, audio: AudioFormat, connect_ms: float | None = None) -> None:
        self._audio = audio
        self._connect_ms = connect_ms
        self._sent: list[_Sent] = []
        self._chars = 0
        self._chars_spoken = 0
        self._first_text_s: float | None = None
        self._asked_s: float | None = None
        self._first_s: float | None = None
        self._audible_s: float | None = None
        self._play_end_s = 0.0
        self._worst_underrun_s = 0.0
        self._packets = 0
        self._audio_s = 0.0

    def text(self, delta: str, now_s: float) -> None:
        """Text is about to be sent."""
        if self._first_s is not None:
            return
        self._first_text_s = now_s if self._first_text_s is None else self._first_text_s
        blank = len(delta) - len(delta.rstrip())
        if blank < len(delta):
            self._chars_spoken = self._chars + len(delta) - blank
        self._chars += len(delta)
        self._sent.append(_Sent(now_s, release=False, chars=self._chars, chars_spoken=0))

    def release(self, now_s: float) -> None:
        """A flush or end is about to be sent."""
        if self._first_s is None:
            sent = _Sent(now_s, release=True, chars=self._chars, chars_spoken=self._chars_spoken)
            self._sent.append(sent)

    def segment(self, segment: SegmentEvent) -> None:
        """The server says which text comes first: what completed it is known now."""
        if self._asked_s is None:
            self._asked_s = _completed_s(self._sent, segment.char_end)

    def packet(self, payload: bytes, now_s: float) -> None:
        """Audio has arrived."""
        length_s = self._length_s(payload)
        if self._first_s is None:
            self._first_s = self._play_end_s = now_s
            self._sent.clear()
        self._worst_underrun_s = max(self._worst_underrun_s, now_s - self._play_end_s)
        starts_s = max(self._play_end_s, now_s)
        self._listen(payload, starts_s)
        self._play_end_s = starts_s + length_s
        self._audio_s += length_s
        self._packets += 1

    def stats(self, done: Done | None) -> Stats:
        """What it amounts to, so far or (with ``done``) in all."""
        first_packet_ms = _since_ms(self._first_s, self._asked_s)
        return Stats(
            first_packet_ms=first_packet_ms,
            ttfa_ms=self._ttfa_ms(first_packet_ms, done),
            audio_ms=done.samples / 24 if done else self._audio_s * 1000,
            worst_underrun_ms=self._worst_underrun_s * 1000,
            packets=self._packets,
            rtf=done.rtf if done else None,
            first_delta_to_packet_ms=_since_ms(self._first_s, self._first_text_s),
            connect_ms=self._connect_ms,
        )

    def _length_s(self, payload: bytes) -> float:
        width = BYTES_PER_SAMPLE.get(self._audio.codec)
        if width is None:
            return self._audio.frame_ms / 1000
        return len(payload) / width / self._audio.rate

    def _listen(self, payload: bytes, starts_s: float) -> None:
        if self._audible_s is None and self._audio.codec in BYTES_PER_SAMPLE:
            index = first_audible(self._audio.codec, payload)
            if index is not None:
                self._audible_s = starts_s + index / self._audio.rate

    def _ttfa_ms(self, first_packet_ms: float | None, done: Done | None) -> float | None:
        if self._audio.codec in BYTES_PER_SAMPLE:
            return _since_ms(self._audible_s, self._asked_s)
        if first_packet_ms is None or done is None:
            return None
        if done.ttfa_ms is None or done.first_packet_ms is None:
            return None
        return first_packet_ms + done.ttfa_ms - done.first_packet_ms


def _completed_s(sent: list[_Sent], char_end: int) -> float | None:
    """When that much text was complete: by a flush or end right after it, else by its last delta.

    Where a rule of the server's needed one character more to see the end, the time of the earlier
    delta is taken: the figure is then too high rather than too low.
    """
    for entry in sent:
        if entry.release and entry.chars_spoken <= char_end <= entry.chars:
            return entry.now_s
    return next((e.now_s for e in sent if not e.release and e.chars >= char_end), None)


def _since_ms(later_s: float | None, earlier_s: float | None) -> float | None:
    return None if later_s is None or earlier_s is None else (later_s - earlier_s) * 1000
