"""How far a download is, for whoever waits: one line that changes, or a line now and then.

Knows: terminals, bytes, seconds. Does not know: files, hubs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TextIO

_EVERY_S: Final = 0.2
_EVERY_LOGGED_S: Final = 10.0
_BAR: Final = 24


class Progress:
    """Of ``total`` bytes in all; those that were there before do not count as speed."""

    def __init__(
        self, total: int, out: TextIO, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._out = out
        self._clock = clock
        self._live = out.isatty()
        self._began = clock()
        self._fresh = 0
        self._done = 0
        self._shown_at = float("-inf")
        self._name = ""
        self._in_file = 0

    def file(self, name: str, have: int) -> None:
        """Begin a file of which ``have`` bytes are there."""
        self._name, self._in_file = name, have
        self._done += have

    def moved(self, have: int) -> None:
        """So many bytes of the file are there now; less than before where it began anew."""
        gained = have - self._in_file
        self._in_file = have
        self._done += gained
        self._fresh += max(0, gained)
        now = self._clock()
        if now - self._shown_at >= (_EVERY_S if self._live else _EVERY_LOGGED_S):
            self._shown_at = now
            self._show(now)

    def say(self, words: str) -> None:
        """A line that stays."""
        print(("\r\x1b[K" if self._live else "") + words, file=self._out, flush=True)

    def end(self) -> None:
        """Leave the line to what follows."""
        if self._live:
            self._show(self._clock())
            print(file=self._out, flush=True)

    def _show(self, now: float) -> None:
        line = self._line(now)
        if self._live:
            print(f"\r\x1b[K{line}", end="", file=self._out, flush=True)
        else:
            print(line, file=self._out, flush=True)

    def _line(self, now: float) -> str:
        share = min(1.0, self._done / self._total) if self._total else 1.0
        filled = round(share * _BAR)
        speed = self._fresh / max(now - self._began, 1e-3)
        left = f", {duration((self._total - self._done) / speed)} left" if speed else ""
        bar = "#" * filled + "." * (_BAR - filled)
        return f"[{bar}] {share:4.0%} {size(self._done)}, {size(speed)}/s{left}  {self._name}"


def size(count: float) -> str:
    """Bytes for people: 4.4 GB, 28 MB, 12 kB."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            shown = count / step
            return f"{shown:.1f} {unit}" if shown < 10 else f"{shown:,.0f} {unit}"  # noqa: PLR2004 - two digits
    return f"{count:.0f} bytes"


def duration(seconds: float) -> str:
    """Seconds for people: 1 h 5 min, 3 min, 20 s."""
    minutes, rest = divmod(round(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if minutes else f"{rest} s"
