"""Steps that were launched and go on elsewhere, while the loop launches others.

Knows: how many batches of a stage are under way, whose rows they hold, and when each must have come
to its end at the latest. Does not know: what a step does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from streaming.runners.base import Later, StepResult
from streaming.scheduler import UnderWay
from streaming.steps import Stage

T = TypeVar("T")


@dataclass(frozen=True)
class Launch(Generic[T]):
    """A batch: a stage's step for these owners, each with its share of the work."""

    stage: Stage
    owners: tuple[T, ...]
    units: tuple[float, ...]
    began_s: float
    begin_by_s: float = float("-inf")
    """When it had to begin at the latest."""


@dataclass(frozen=True)
class Landed(Generic[T]):
    """A batch that has come to its end, well or not."""

    launch: Launch[T]
    results: Sequence[StepResult]
    took_s: float
    """Its part of the time that passed: time in which several were under way counts for one."""
    ended_s: float


@dataclass(eq=False)
class _Flight(Generic[T]):
    launch: Launch[T]
    later: Later
    took_s: float = 0.0
    ended_s: float | None = None
    """Told by the thread in which it ended."""

    def end_s(self, now_s: float) -> float:
        """When it ended, or now, where that is not told yet."""
        return now_s if self.ended_s is None else self.ended_s


class Flights(Generic[T]):
    """What is under way; ``wake`` is called when a batch has come to its end.

    Stages may share a device, so while several batches are under way time counts for one of them:
    the oldest of those whose stage goes first.
    """

    def __init__(
        self, wake: Callable[[], None], longest_s: float, now: Callable[[], float]
    ) -> None:
        self._wake = wake
        self._longest_s = longest_s
        self._now = now
        self._under_way: list[_Flight[T]] = []
        self._beside: dict[str, UnderWay] = {}
        """What ``beside`` answered, by stage; forgotten when something is launched or ends."""
        self._counted_until_s = 0.0

    @property
    def busy(self) -> bool:
        """Whether anything is under way."""
        return bool(self._under_way)

    def beside(self, stage: Stage) -> UnderWay:
        """What a step of the stage would be launched beside."""
        known = self._beside.get(stage.name)
        if known is None:
            known = self._beside[stage.name] = self._found_beside(stage.name)
        return known

    def room(self, stage: Stage) -> bool:
        """Whether one more batch of the stage may be launched."""
        return self.beside(stage).own < stage.in_flight

    def add(self, launch: Launch[T], later: Later) -> None:
        """A batch is under way."""
        assert self.room(launch.stage), "no more is launched than there is room for"
        self._count(launch.began_s)
        flight = _Flight(launch, later)
        self._under_way.append(flight)
        self._beside.clear()
        later.made.add_done_callback(lambda _: self._end(flight))

    def landed(self, now_s: float) -> list[Landed[T]]:
        """What has come to its end since the last call.

        Raises:
            TimeoutError: one has not, for longer than any step may take.
        """
        ended = [each for each in self._under_way if each.later.made.done()]
        ended.sort(key=lambda each: each.end_s(now_s))
        for flight in ended:
            self._count(flight.end_s(now_s))
            self._under_way.remove(flight)
            self._beside.clear()
        for flight in self._under_way:
            lasts_s = now_s - flight.launch.began_s
            if lasts_s > self._longest_s:
                raise TimeoutError(
                    f"a step of {flight.launch.stage.name!r} has not ended in {lasts_s:.0f} s"
                )
        return [
            Landed(
                each.launch,
                _outcome(each.later, len(each.launch.owners)),
                each.took_s,
                each.end_s(now_s),
            )
            for each in ended
        ]

    def _found_beside(self, stage: str) -> UnderWay:
        begin_by_s, own = float("inf"), 0
        for each in self._under_way:
            if each.launch.stage.name == stage:
                own += 1
            else:
                begin_by_s = min(begin_by_s, each.launch.begin_by_s)
        return UnderWay(begin_by_s, own)

    def _end(self, flight: _Flight[T]) -> None:
        flight.ended_s = self._now()
        self._wake()

    def _count(self, until_s: float) -> None:
        """Give the time since the last count to one of the batches."""
        if self._under_way and until_s > self._counted_until_s:
            first = next(
                (each for each in self._under_way if each.launch.stage.urgent), self._under_way[0]
            )
            first.took_s += until_s - self._counted_until_s
        self._counted_until_s = max(self._counted_until_s, until_s)


def _outcome(later: Later, rows: int) -> Sequence[StepResult]:
    error = later.made.exception()
    if error is None:
        try:
            return later.land(later.made.result())
        except Exception as raised:  # noqa: BLE001 - told to each row's context
            error = raised
    return [error if isinstance(error, Exception) else RuntimeError(repr(error))] * rows
