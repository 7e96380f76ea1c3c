"""The engine as a process: load the runner, say so, then speak for ever.

Knows: how the process begins, and what it says when it cannot. Does not know: the parent's side.
"""

from __future__ import annotations

import gc
import sys

from streaming.clock import SystemClock
from streaming.config import EngineSettings
from streaming.engine.channel import Channel, take_standard_streams
from streaming.engine.loop import Engine
from streaming.engine.notes import note, note_error
from streaming.engine.wire import to_engine
from streaming.messages import Fatal, ToEngine
from streaming.runners.registry import create


def run_engine(settings: EngineSettings) -> None:
    """Load the runner, say so, then speak for ever."""
    channel: Channel[ToEngine] = Channel(to_engine(), *take_standard_streams())
    clock = SystemClock()
    began_s = clock.now()
    engine = _load(settings, channel, clock)
    # What was loaded stays; the collector need not walk it again in the middle of a sentence.
    gc.collect()
    gc.freeze()
    note("engine_loaded", runner=settings.kind, took_s=round(clock.now() - began_s, 3))
    engine.run()


def _load(settings: EngineSettings, channel: Channel[ToEngine], clock: SystemClock) -> Engine:
    try:
        runner = create(settings)
        runner.load()
        return Engine(runner, settings, channel, clock)
    except Exception as error:  # noqa: BLE001 - loading may raise anything; the parent is told
        note_error("engine_not_loaded", error, runner=settings.kind)
        channel.send([Fatal(message=f"the {settings.kind} runner could not be loaded: {error}")])
        channel.drain()
        sys.exit(1)
