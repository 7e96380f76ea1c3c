"""A device that does one step after another, in simulated time.

Knows: how long steps are. Does not know: what they make.
"""

from __future__ import annotations

from concurrent.futures import Future

from benchmarks.capacity.world import World


class SerialDevice:
    """A queue of steps, the first at work."""

    def __init__(self, world: World) -> None:
        self.busy_s = 0.0
        self._world = world
        self._free_s = 0.0

    def launch(self, cost_s: float) -> Future[None]:
        """Queue a step; the future is done when the step is."""
        self.busy_s += cost_s
        self._free_s = max(self._free_s, self._world.now()) + cost_s
        done: Future[None] = Future()
        self._world.at(self._free_s, lambda: done.set_result(None))
        return done
