"""A line on a terminal that says how far the speech is.

Knows: carriage returns and widths. Does not know: the protocol.
"""

from __future__ import annotations

import shutil
import time
from typing import TextIO

_EVERY_S = 0.1
_BAR_CHARS = 24


class Progress:
    """Redraws one line, seldom enough; ``clear`` takes it away."""

    def __init__(self, terminal: TextIO, total_chars: int | None) -> None:
        self._terminal = terminal
        self._total_chars = total_chars
        self._drawn_s = 0.0
        self._chars = 0
        self._text = ""

    def speaking(self, text: str, char_end: int) -> None:
        """This part of the text is being spoken."""
        self._text = " ".join(text.split())
        self._chars = char_end

    def audio(self, audio_ms: float) -> None:
        """So much audio has come."""
        now_s = time.monotonic()
        if now_s - self._drawn_s >= _EVERY_S:
            self._drawn_s = now_s
            self._draw(audio_ms)

    def clear(self) -> None:
        """Leave the line empty for what comes next."""
        if self._drawn_s:
            self._terminal.write("\r\x1b[K")
            self._terminal.flush()

    def _draw(self, audio_ms: float) -> None:
        line = f"{self._bar()}{audio_ms / 1000:6.1f} s  {self._text}"
        width = shutil.get_terminal_size().columns - 1
        self._terminal.write("\r\x1b[K" + line[:width])
        self._terminal.flush()

    def _bar(self) -> str:
        if not self._total_chars:
            return ""
        full = min(_BAR_CHARS, self._chars * _BAR_CHARS // self._total_chars)
        return f"[{'#' * full}{'.' * (_BAR_CHARS - full)}]"
