"""Steps that go on in a thread of the runner's own while the loop runs others.

Knows: which voices are busy with one, and when each must have ended at the latest. Does not know:
what a step does, who owns it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

from streaming.runners.base import Made

T = TypeVar("T")


@dataclass(frozen=True)
class Ended(Generic[T]):
    """A step that has come to its end, well or not."""

    owner: T
    result: Made | Exception
    took_s: float


@dataclass(frozen=True)
class _Running(Generic[T]):
    owner: T
    future: Future[Made | Exception]
    began_s: float


class Aside(Generic[T]):
    """At most one such step a voice; ``wake`` is called when one has ended."""

    def __init__(self, wake: Callable[[], None], longest_s: float) -> None:
        self._wake = wake
        self._longest_s = longest_s
        self._running: dict[str, _Running[T]] = {}

    @property
    def voices(self) -> frozenset[str]:
        """Those that are busy."""
        return frozenset(self._running)

    def add(self, owner: T, voice: str, future: Future[Made | Exception], now_s: float) -> None:
        """A step with that voice has begun."""
        assert voice not in self._running, "no step is asked for of a voice that is busy"
        self._running[voice] = _Running(owner, future, now_s)
        future.add_done_callback(lambda _: self._wake())

    def ended(self, now_s: float) -> list[Ended[T]]:
        """What has come to its end since the last call.

        Raises:
            TimeoutError: one has not, for longer than any step may take.
        """
        out = []
        for voice, step in list(self._running.items()):
            took_s = now_s - step.began_s
            if step.future.done():
                del self._running[voice]
                out.append(Ended(step.owner, _outcome(step.future), took_s))
            elif took_s > self._longest_s:
                raise TimeoutError(f"a step of voice {voice!r} has not ended in {took_s:.0f} s")
        return out


def _outcome(future: Future[Made | Exception]) -> Made | Exception:
    error = future.exception()
    if error is None:
        return future.result()
    return error if isinstance(error, Exception) else RuntimeError(repr(error))
