"""What a context was given to say, and how far the listener has heard it.

Knows: the client's own text, which characters each segment and word came from, when they sound.
Does not know: time, audio, the wire. Positions are samples at 24 kHz in the context's audio.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from streaming.messages import SegmentStarted, Words


@dataclass(frozen=True, slots=True)
class _Spot:
    """From ``samples`` on, the text up to ``char_end`` has been spoken."""

    samples: int
    char_end: int
    provisional: bool = False


class Transcript:
    """The text of one context, split at any moment into what was spoken and what was not."""

    def __init__(self) -> None:
        self._deltas: list[str] = []
        self._spots: deque[_Spot] = deque()
        self._spoken_chars = 0
        self.chars = 0

    def append(self, delta: str) -> None:
        """More of the client's text."""
        if delta:
            self._deltas.append(delta)
        self.chars += len(delta)

    def segment_started(self, started: SegmentStarted) -> None:
        """A segment begins to sound: everything before it has been spoken by then."""
        self._spots.append(_Spot(started.position_samples, started.segment.char_start))

    def words(self, words: Words) -> None:
        """When each word of a segment sounds; one counts as spoken from its middle on.

        What was said provisionally of them before holds no longer.
        """
        self._spots = deque(spot for spot in self._spots if not spot.provisional)
        self._spots.extend(
            _Spot((word.start_samples + word.end_samples) // 2, word.char_end, words.provisional)
            for word in words.items
        )

    def heard(self, samples: int) -> None:
        """The listener has come so far; what lies before is settled and need not be kept."""
        while self._spots and self._spots[0].samples <= samples:
            self._spoken_chars = max(self._spoken_chars, self._spots.popleft().char_end)

    def split(self, samples: int) -> tuple[str, str]:
        """``(spoken, remaining)`` at a position; joined they are the whole text."""
        self.heard(samples)
        text = "".join(self._deltas)
        return text[: self._spoken_chars], text[self._spoken_chars :]
