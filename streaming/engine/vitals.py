"""What the engine counts about itself, and when it says so.

Knows: how often the supervisor must hear. Does not know: what the figures are used for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from streaming.context import Context
from streaming.messages import Stats
from streaming.samples import SAMPLE_RATE

EVERY_S = 1.0
AT_CHANGE_S = 0.1
"""When contexts come or go it speaks sooner, but not more often than this."""

LATE_S, FIRST_LATE_S = 0.02, 0.3
"""A context counts as late when its listener has waited for so long: in its midst, and for its
first audio. The latter is more, since contexts that come at the same moment wait for one another,
which says nothing about how many can be served."""


@dataclass
class Vitals:
    """Counters since the process began."""

    slots: int
    steps: int = 0
    busy_s: float = 0.0
    audio_samples: int = 0
    _said_s: float = float("-inf")
    _said_contexts: int = 0
    _waited_s: dict[int, float] = field(default_factory=dict)

    def due_s(self, contexts: int) -> float:
        """When the next ``Stats`` must go out."""
        return self._said_s + (AT_CHANGE_S if contexts != self._said_contexts else EVERY_S)

    def say(
        self,
        contexts: Iterable[Context],
        capacity: dict[str, int],
        now_s: float,
        figures: dict[str, float] | None = None,
    ) -> Stats:
        """The figures now."""
        known = list(contexts)
        late = tuple(context.open.ctx for context in known if self._was_late(context, now_s))
        self._waited_s = {context.open.ctx: context.waited_s for context in known}
        self._said_s = now_s
        self._said_contexts = len(known)
        return Stats(
            contexts=len(known),
            parked=sum(context.parked for context in known),
            queued_segments=sum(context.segments for context in known),
            free_slots=self.slots - len(known),
            steps=self.steps,
            busy_s=self.busy_s,
            audio_s=self.audio_samples / SAMPLE_RATE,
            rss_mib=rss_mib(),
            capacity=capacity,
            late=late,
            figures=figures or {},
        )

    def _was_late(self, context: Context, now_s: float) -> bool:
        """Whether it is late now, or was since the figures were told last."""
        waited_s = context.waited_s - self._waited_s.get(context.open.ctx, 0.0)
        return not context.hasty and (waited_s > LATE_S or is_late(context, now_s))


def is_late(context: Context, now_s: float) -> bool:
    """Whether its listener hears silence where speech should be, for want of computing alone."""
    waits = context.parked or context.starved or not context.voice_ready or context.hasty
    if context.head is None or waits:
        return False
    allowed_s = LATE_S if context.started else FIRST_LATE_S
    return context.deadline_s(now_s) + allowed_s < now_s


def rss_mib() -> float:
    """This process's resident memory; 0 where the system does not tell without help."""
    if sys.platform != "linux":
        return 0.0
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - once a second, for ever
        pages = int(statm.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
