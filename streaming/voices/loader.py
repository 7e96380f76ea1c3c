"""Loads voices in a thread of its own, so that nobody who speaks waits for a voice that loads.

Knows: which loads are under way. Does not know: how a voice is loaded, or who wants it.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass


@dataclass(frozen=True)
class Loaded:
    """A load has come to its end, well or not."""

    voice: str
    error: Exception | None


class VoiceLoader:
    """``want`` a voice; some time later ``wake`` is called and ``finished`` has it."""

    def __init__(self, load: Callable[[str], None], wake: Callable[[], None]) -> None:
        self._load = load
        self._wake = wake
        self._under_way: set[str] = set()
        self._outcomes: queue.SimpleQueue[Loaded] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="voice")

    @property
    def busy(self) -> bool:
        """Whether any is being loaded."""
        return bool(self._under_way)

    def want(self, voice: str) -> None:
        """Load it, if that is not under way already."""
        if voice not in self._under_way:
            self._under_way.add(voice)
            self._pool.submit(self._run, voice)

    def is_under_way(self, voice: str) -> bool:
        """Whether it is being loaded now."""
        return voice in self._under_way

    def finished(self) -> list[Loaded]:
        """What has come to its end since the last call."""
        outcomes = []
        while not self._outcomes.empty():
            outcome = self._outcomes.get()
            self._under_way.discard(outcome.voice)
            outcomes.append(outcome)
        return outcomes

    def _run(self, voice: str) -> None:
        error: Exception | None = None
        try:
            self._load(voice)
        except Exception as raised:  # noqa: BLE001 - a voice's loader may raise anything; it is told
            error = raised
        self._outcomes.put(Loaded(voice, error))
        self._wake()
