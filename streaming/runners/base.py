"""What the engine asks of a runner.

A runner turns text into samples, one step for a batch of contexts at a time, and holds no context:
all that belongs to one is a value that the engine hands back with the next step. So a batch may be
run again row by row when it failed as a whole, and a context can be dropped by forgetting it.
Does not know: contexts' queues, deadlines, pauses, chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from streaming.messages import Ready, Segment

Samples: TypeAlias = npt.NDArray[np.float32]
"""Mono, 24 kHz, -1 to 1, shape ``(T,)``."""

SPEECH = "speech"
"""The one stage of a runner that goes from text to samples in a single kind of step. A runner of
several networks names a stage for each; costs are learned a stage."""


@dataclass(frozen=True)
class Work:
    """One row of a batch: a context's segment and how far it is."""

    ctx: int
    segment: Segment
    voice: str
    speed: float
    seed: int
    instruct: str | None = None
    stage: str = SPEECH
    state: Any = None
    """What the step before returned for this segment; ``None`` at its beginning."""


@dataclass(frozen=True)
class Made:
    """What a step made of one row."""

    samples: Samples
    done: bool
    """Whether the segment is complete; there is no step more for it."""
    state: Any = None
    expected_samples: int | None = None
    """How long the whole segment will be, where that is known before it is done."""


@dataclass(frozen=True)
class Later:
    """The step of one row goes on in a thread of the runner's own.

    Until ``result`` is there, no further step with that row's voice is asked for; steps with other
    voices are. What ``result`` raises, or is, counts as if the step had returned it.
    """

    result: Future[Made | Exception]


StepResult: TypeAlias = Made | Later | Exception
"""An exception fails that row's context alone; one of ``streaming.errors`` is told as it is."""


class Runner(Protocol):
    """A model, or several, loaded in the engine's process."""

    @property
    def max_batch(self) -> int:
        """Rows a step can take."""
        ...

    def load(self) -> None:
        """Load and warm all that the first context would wait for. Raises what went wrong."""

    def ready(self, slots: int) -> Ready:
        """What it can do, once loaded."""
        ...

    def step_units(self, segment: Segment) -> float:
        """How much a step of that segment is, in units that cost about the same each."""
        ...

    def has_voice(self, voice: str) -> bool:
        """Whether a step with that voice would find it loaded."""
        ...

    def load_voice(self, voice: str) -> None:
        """Make it so; called in a thread of its own, beside steps with other voices."""

    def step(self, batch: Sequence[Work]) -> Sequence[StepResult]:
        """One step for each row, in the rows' order. What it raises counts against every row."""
        ...
