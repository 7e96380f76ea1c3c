"""What the engine asks of a runner.

A runner turns text into samples by steps, each of one stage and for a batch of contexts. It knows
no context but by the state it makes for a segment (``begin``), which the engine keeps, hands back
with every step and gives up at the end (``release``). So a batch that failed as a whole may be run
again row by row, and a context is dropped by releasing its state.
Does not know: contexts' queues, deadlines, pauses, chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from streaming.costs import Costs
from streaming.messages import Ready
from streaming.segment import Segment
from streaming.steps import Following, Stage, Want

Samples: TypeAlias = npt.NDArray[np.float32]
"""Mono, 24 kHz, -1 to 1, shape ``(T,)``."""

SPEECH = "speech"
"""The one stage of a runner that goes from text to samples in a single kind of step."""


@dataclass(slots=True)
class Work:
    """One row of a batch: a context's segment and how far it is.

    One object for the whole of a segment: ``state`` and ``slack_s`` are set anew for each step,
    ``parked`` and ``slack_s`` whenever the context must wait.
    """

    ctx: int
    segment: Segment
    voice: str
    speed: float
    seed: int
    instruct: str | None = None
    language: str = "auto"
    state: Any = None
    """What ``begin`` returned for this segment, or the last step since."""
    slack_s: float = 0.0
    """How long until the step's audio is needed; infinite while the listener is away."""
    parked: bool = False
    """Whether the context must wait: its listener is away, or far behind, or its text has not come.
    """
    interleaved: bool = False
    """The segment may come in parts; how it is spoken must not depend on when they came."""
    starved: bool = False
    """Set by ``wants``: nothing more can be made of it before more of its text comes."""


class Made(NamedTuple):
    """What a step made of one row."""

    samples: Samples
    done: bool
    """Whether the segment is complete; there is no step more for it."""
    state: Any = None
    expected_samples: int | None = None
    """How long the whole segment will be, where that is known before it is done."""
    usual_samples: int | None = None
    """About how long it will be, where nobody knows yet."""


StepResult: TypeAlias = Made | Exception
"""An exception fails that row's context alone; one of ``streaming.errors`` is told as it is."""


def _as_it_is(made: Any) -> Any:
    return made


@dataclass(frozen=True)
class Later:
    """The step goes on elsewhere: on a device, or in a thread of the runner's own.

    ``land`` is called in the engine's own thread with what ``made`` gives, and returns a result for
    each row. What either raises counts against every row.
    """

    made: Future[Any]
    land: Callable[[Any], Sequence[StepResult]] = _as_it_is


class Copied(NamedTuple):
    """Something that went from the device to the host, or back."""

    line: str
    """Whose copy it is, as a stage's: those of one line come one after another."""
    way: str
    began_s: float
    ended_s: float
    owners: tuple[int | str, ...]
    """Contexts, or a voice."""
    bytes: int


class Runner(Protocol):
    """A model, or several, loaded in the engine's process."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The kinds of step there are, in the order in which a segment meets them."""
        ...

    def load(self) -> None:
        """Load and warm all that the first context would wait for. Raises what went wrong."""

    def ready(self, slots: int) -> Ready:
        """What it can do, once loaded; ``slots`` is what the settings allow."""
        ...

    def has_voice(self, voice: str) -> bool:
        """Whether a step with that voice would find it loaded."""
        ...

    def load_voice(self, voice: str) -> None:
        """Make it so; called in a thread of its own, beside steps with other voices."""

    def unload(self) -> None:
        """Nobody speaks: give memory back; the next voice that is wanted is loaded anew."""

    def forget_voice(self, voice: str) -> None:
        """It was removed, and no context speaks with it any more: keep nothing of it."""

    def begin(self, work: Work) -> Any:
        """The state of a segment of which nothing is made. Raises what the context is told."""

    def grow(self, work: Work, part: Segment) -> None:
        """More of a segment that came in parts: ``work.segment`` has it. Raises as ``begin``."""

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """The steps that could be launched for that row now; none while it waits for another."""
        ...

    def step(self, stage: str, batch: Sequence[Work]) -> Sequence[StepResult] | Later:
        """One step for each row, in the rows' order. What it raises counts against every row."""
        ...

    def release(self, state: Any) -> None:
        """The segment is complete, or nobody wants it: what its state holds is free again."""

    def second(self, lane: str, contexts: int) -> Sequence[Following]:
        """The steps that a second of speech takes for so many contexts of that lane's voices."""
        ...

    def figures(self) -> dict[str, float]:
        """What it counts about itself, for operators; docs/operations.md explains each."""
        ...

    def copied(self) -> Sequence[Copied]:
        """What was copied since the last call, for a trace; nothing where none is written."""
        ...


class OneStage:
    """The part of a runner that goes from text to samples in steps of one kind.

    Its state is a value that each step returns anew, so there is nothing to begin and to release.
    """

    stages: tuple[Stage, ...] = (Stage(SPEECH),)
    units_per_s: float = 1.0
    """Of a second of speech."""
    usual_units: float = 1.0
    """Of a step."""
    room: float = 1.0
    """What steps take is counted so many times, to leave room for many who begin at once."""

    def unload(self) -> None:
        """It is small, and stays."""

    def forget_voice(self, voice: str) -> None:
        """Voices that come with the runner are never removed."""

    def begin(self, work: Work) -> Any:
        """Nothing: a first step finds no state."""
        del work

    def grow(self, work: Work, part: Segment) -> None:
        """Segments come whole: ``interleaved`` is none of its options."""

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """Always the next step."""
        del costs
        return (Want(self.stages[0].name, self.step_units(work.segment)),)

    def step_units(self, segment: Segment) -> float:
        """How much a step of that segment is."""
        del segment
        return 1.0

    def release(self, state: Any) -> None:
        """Forget it."""

    def figures(self) -> dict[str, float]:
        """None."""
        return {}

    def copied(self) -> Sequence[Copied]:
        """Nothing: it has no device."""
        return ()

    def second(self, lane: str, contexts: int) -> Sequence[Following]:
        """Steps of one row each, ``units_per_s`` in all for a context, and room for bursts."""
        del lane
        steps = self.room * contexts * self.units_per_s / self.usual_units
        return (Following(self.stages[0].name, self.usual_units, steps),)
