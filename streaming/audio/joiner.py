"""The clips that a runner makes of segments become one continuous stream.

Knows: leading silence, fades at true seams, pauses. Does not know: text, chunks, codecs.

Within a segment the pieces follow each other bit for bit: however a clip is cut, the same bytes
come out. Held back are 5 ms, for the fade that an end may ask for, and silence that may turn out
to be the segment's last: the stretch that its pause needs anyway leaves at once, what exceeds it
waits until speech goes on (then it leaves unchanged) or the segment ends (then it is dropped).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streaming.audio.pcm import SAMPLE_BYTES, Float32, Int16, from_float, to_bytes
from streaming.audio.silence import Offset, Onset
from streaming.config import PauseSettings
from streaming.samples import SAMPLE_RATE
from streaming.segment import Ending

FADE_MS = 5
FADE_SAMPLES = SAMPLE_RATE * FADE_MS // 1000
GUARD_MS = 25
"""This much after the last audible sample is kept, however short the pause: sounds die away."""

_RISE = (0.5 - 0.5 * np.cos(np.pi * np.arange(FADE_SAMPLES) / FADE_SAMPLES)).astype(np.float32)
"""From exactly 0; read backwards, to exactly 0. A raised cosine, as it has no corner to hear."""
_NOTHING: Int16 = np.zeros(0, np.int16)


class SegmentJoiner:
    """One context's segments: ``begin``, any number of ``push``, ``end``; then ``finish``.

    Whether a segment is the last is often not known when it ends, and the pause differs. So
    ``end`` gives only what both pauses have in common; the rest comes with the next ``begin`` or
    with ``finish``. The same segments make the same bytes, whenever the end was told.
    """

    def __init__(self, pauses: PauseSettings) -> None:
        self._pauses = pauses
        self._longest_samples = _samples(
            max(pauses.paragraph_ms, pauses.sentence_ms, pauses.clause_ms, pauses.end_ms, FADE_MS)
        )
        self._segment: _Segment | None = None
        self._owed_samples = 0
        self._owed_at_end_samples = 0

    def begin(self, ending: Ending | None) -> bytes:
        """A segment starts; how it ends decides the pause after it. The rest of the last pause.

        ``None``: ``end`` will tell, as more text is still to come.

        Raises:
            ValueError: while one is going on.
        """
        if self._segment is not None:
            raise ValueError("the segment before has not ended")
        self._segment = _Segment(ending or self._shortest, _samples(self._pauses.lead_ms))
        return self._pay(self._owed_samples)

    def push(self, samples: Float32) -> bytes:
        """More of the segment, 24 kHz in -1..1, ``(samples,)``: the PCM that can leave now.

        Raises:
            ValueError: outside a segment.
        """
        segment = self._current()
        segment.take(from_float(samples))
        surely = self._sure_pause_samples(segment)
        return to_bytes(segment.release(_kept(surely), self._longest_samples))

    def end(self, ending: Ending | None = None) -> bytes:
        """The rest of the segment, and as much of a pause as follows in any case.

        ``ending``: how it ends, where ``begin`` could not know.

        A segment without an audible sample is heard as its pause alone, one without any sample
        not at all.

        Raises:
            ValueError: outside a segment.
        """
        segment = self._current()
        segment.ending = ending or segment.ending
        self._segment = None
        if not segment.samples:
            return b""
        rest = segment.close(self._sure_pause_samples(segment))
        self._owed_samples = self._pause_samples(segment.ending) - segment.paused_samples
        self._owed_at_end_samples = self._pause_samples("end") - segment.paused_samples
        return to_bytes(rest)

    def finish(self) -> bytes:
        """No segment follows: the rest of the pause at the end.

        Raises:
            ValueError: while a segment is going on.
        """
        if self._segment is not None:
            raise ValueError("the segment before has not ended")
        return self._pay(self._owed_at_end_samples)

    def _pay(self, samples: int) -> bytes:
        self._owed_samples = self._owed_at_end_samples = 0
        return bytes(max(0, samples) * SAMPLE_BYTES)

    def _sure_pause_samples(self, segment: _Segment) -> int:
        return min(self._pause_samples(segment.ending), self._pause_samples("end"))

    def _current(self) -> _Segment:
        if self._segment is None:
            raise ValueError("no segment has begun")
        return self._segment

    @property
    def _shortest(self) -> Ending:
        return min(self._by_ending, key=self._by_ending.__getitem__)

    @property
    def _by_ending(self) -> dict[Ending, int]:
        return {
            "paragraph": self._pauses.paragraph_ms,
            "sentence": self._pauses.sentence_ms,
            "clause": self._pauses.clause_ms,
            "forced": self._pauses.forced_ms,
            "end": self._pauses.end_ms,
        }

    def _pause_samples(self, ending: Ending) -> int:
        return _samples(self._by_ending[ending])


class _Segment:
    """What is held back of one segment, and how far it has come."""

    def __init__(self, ending: Ending, lead_samples: int) -> None:
        self.ending = ending
        self.samples = 0
        self.paused_samples = 0
        """How long it is silent after its last audible sample, once it is closed."""
        self._onset = Onset(lead_samples)
        self._offset: Offset | None = None
        self._held = _NOTHING
        self._risen_samples = 0

    @property
    def _silent_samples(self) -> int:
        return self._offset.silent_samples if self._offset else 0

    def take(self, samples: Int16) -> None:
        """Hold these samples, without what is trimmed at the start and faded in."""
        self.samples += len(samples)
        audible = self._onset.push(samples)
        if not len(audible):
            return
        if self._offset is None:
            self._offset = Offset(self._onset.noise)
        self._offset.push(audible)
        self._held = np.concatenate((self._held, self._fade_in(audible)))

    def release(self, kept_samples: int, longest_samples: int) -> Int16:
        """What can leave: all but the fade, and but the silence past ``kept_samples``.

        Of that silence at most ``longest_samples`` are held; more of it is meant to be heard.
        """
        excess = max(0, self._silent_samples - kept_samples)
        hold = min(excess + FADE_SAMPLES, longest_samples)
        return self._let_go(max(0, len(self._held) - hold))

    def close(self, pause_samples: int) -> Int16:
        """The end: faded out, its silence cut or extended to the pause."""
        excess = max(0, self._silent_samples - _kept(pause_samples))
        end = min(max(len(self._held) - excess, FADE_SAMPLES), len(self._held))
        missing = max(0, pause_samples - self._silent_samples)
        self.paused_samples = self._silent_samples - (len(self._held) - end) + missing
        return np.concatenate((_fade_out(self._held[:end]), np.zeros(missing, np.int16)))

    def _let_go(self, count: int) -> Int16:
        gone, self._held = self._held[:count], self._held[count:]
        return gone

    def _fade_in(self, samples: Int16) -> Int16:
        """The samples, those of the segment's first 5 ms on the rising ramp."""
        gain = _RISE[self._risen_samples : self._risen_samples + len(samples)]
        self._risen_samples += len(gain)
        return np.concatenate((_scaled(samples[: len(gain)], gain), samples[len(gain) :]))


def _fade_out(samples: Int16) -> Int16:
    """The samples, their last 5 ms on the falling ramp."""
    gain = _RISE[: len(samples)][::-1]
    steady = len(samples) - len(gain)
    return np.concatenate((samples[:steady], _scaled(samples[steady:], gain)))


def _scaled(samples: Int16, gain: NDArray[np.float32]) -> Int16:
    scaled: Int16 = np.rint(samples * gain).astype(np.int16)
    return scaled


def _kept(pause_samples: int) -> int:
    """How much real silence stays after the last audible sample: the pause, the guard at least."""
    return max(pause_samples, _samples(GUARD_MS))


def _samples(ms: int) -> int:
    return SAMPLE_RATE * ms // 1000
