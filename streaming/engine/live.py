"""A context as the loop has it: its state machine, its audio on the way out, its part in steps.

Knows: what belongs to one context. Does not know: other contexts, what happens to it when.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from streaming.context import Context
from streaming.engine.track import Track
from streaming.messages import Failed
from streaming.runners.base import Work


@dataclass(eq=False)
class Live:
    """One context."""

    ctx: int
    context: Context
    track: Track
    work: Work | None = None
    """The segment at the head, once it has its state."""
    under_way: Counter[str] = field(default_factory=Counter)
    """How many steps of it are, by stage."""
    gone: bool = False
    """Cancelled, failed or finished; what is under way for it is not wanted any more."""
    cancelled: bool = False
    """Its owner is told when its slot is free."""
    failed: Failed | None = None
    """What its owner is told then, where it failed."""

    @property
    def voice(self) -> str:
        """The voice it speaks with."""
        return self.context.open.voice


class Ride(NamedTuple):
    """A context's part in a step."""

    live: Live
    work: Work
