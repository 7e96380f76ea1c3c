"""Steps that were launched and go on elsewhere, while the loop launches others.

Knows: how many batches of a stage are under way, whose rows they hold, and when each must have come
to its end at the latest. Does not know: what a step does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from streaming.runners.base import Later, StepResult
from streaming.steps import Stage

T = TypeVar("T")


@dataclass(frozen=True)
class Launch(Generic[T]):
    """A batch: a stage's step for these owners, each with its share of the work."""

    stage: Stage
    owners: tuple[T, ...]
    units: tuple[float, ...]
    began_s: float


@dataclass(frozen=True)
class Landed(Generic[T]):
    """A batch that has come to its end, well or not; ``took_s`` counts from when it was alone."""

    launch: Launch[T]
    results: Sequence[StepResult]
    took_s: float


class Flights(Generic[T]):
    """What is under way; ``wake`` is called when a batch has come to its end."""

    def __init__(self, wake: Callable[[], None], longest_s: float) -> None:
        self._wake = wake
        self._longest_s = longest_s
        self._under_way: list[tuple[Launch[T], Later]] = []
        self._free_since_s: dict[str, float] = {}

    def room(self, stage: Stage) -> bool:
        """Whether one more batch of the stage may be launched."""
        under_way = sum(launch.stage.name == stage.name for launch, _ in self._under_way)
        return under_way < stage.in_flight

    def owners(self, stage: Stage) -> list[T]:
        """Whose steps of that stage are under way."""
        launches = (launch for launch, _ in self._under_way if launch.stage.name == stage.name)
        return [owner for launch in launches for owner in launch.owners]

    def add(self, launch: Launch[T], later: Later) -> None:
        """A batch is under way."""
        assert self.room(launch.stage), "no more is launched than there is room for"
        self._under_way.append((launch, later))
        later.made.add_done_callback(lambda _: self._wake())

    def landed(self, now_s: float) -> list[Landed[T]]:
        """What has come to its end since the last call.

        Raises:
            TimeoutError: one has not, for longer than any step may take.
        """
        out, still = [], []
        for launch, later in self._under_way:
            stage = launch.stage.name
            if later.made.done():
                began_s = max(launch.began_s, self._free_since_s.get(stage, launch.began_s))
                self._free_since_s[stage] = now_s
                out.append(Landed(launch, _outcome(later, len(launch.owners)), now_s - began_s))
            elif now_s - launch.began_s > self._longest_s:
                raise TimeoutError(
                    f"a step of {stage!r} has not ended in {now_s - launch.began_s:.0f} s"
                )
            else:
                still.append((launch, later))
        self._under_way = still
        return out


def _outcome(later: Later, rows: int) -> Sequence[StepResult]:
    error = later.made.exception()
    if error is None:
        try:
            return later.land(later.made.result())
        except Exception as raised:  # noqa: BLE001 - told to each row's context
            error = raised
    return [error if isinstance(error, Exception) else RuntimeError(repr(error))] * rows
