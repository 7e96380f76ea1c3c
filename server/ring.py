"""What was sent lately, so that a client that comes back misses nothing.

Knows: sequence numbers, bytes, audio lengths, two limits. Does not know: what the messages say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sent:
    """One message as it went out; ``samples_48k`` of audio (0 for an event)."""

    seq: int
    data: bytes
    binary: bool
    samples_48k: int = 0


@dataclass(slots=True)
class RingBudget:
    """Bytes kept by all rings together."""

    limit_bytes: int
    used_bytes: int = 0


class ResumeRing:
    """The last messages of one session, within a length of audio, a size, and a shared budget."""

    def __init__(self, audio_s: float, limit_bytes: int, budget: RingBudget) -> None:
        self._limit_samples = int(audio_s * 48_000)
        self._limit_bytes = limit_bytes
        self._budget = budget
        self._kept: deque[Sent] = deque()
        self._bytes = 0
        self._samples = 0
        self.last_seq = 0

    @property
    def bytes(self) -> int:
        """Bytes kept now."""
        return self._bytes

    def add(self, sent: Sent) -> None:
        """Keep the newest message; the oldest go when a limit is passed."""
        self._kept.append(sent)
        self.last_seq = sent.seq
        self._count(sent, 1)
        while self._kept and self._over():
            self._count(self._kept.popleft(), -1)

    def can_resume_after(self, seq: int) -> bool:
        """Whether every message after ``seq`` is still here."""
        if seq < 0 or seq > self.last_seq:
            return False
        return seq == self.last_seq or (bool(self._kept) and self._kept[0].seq <= seq + 1)

    def after(self, seq: int) -> Iterator[Sent]:
        """The messages after ``seq``, oldest first."""
        return (sent for sent in tuple(self._kept) if sent.seq > seq)

    def close(self) -> None:
        """Forget all, give the budget back, and keep nothing that still comes."""
        self._limit_bytes = -1
        while self._kept:
            self._count(self._kept.popleft(), -1)

    def _over(self) -> bool:
        return (
            self._samples > self._limit_samples
            or self._bytes > self._limit_bytes
            or self._budget.used_bytes > self._budget.limit_bytes
        )

    def _count(self, sent: Sent, sign: int) -> None:
        self._bytes += sign * len(sent.data)
        self._samples += sign * sent.samples_48k
        self._budget.used_bytes += sign * len(sent.data)
