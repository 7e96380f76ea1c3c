"""The cases in this process: the real runner under the real engine's loop, so many contexts each.

Knows: the loop, the crowd, what is counted. Does not know: sockets, the text front end.
"""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Iterator
from typing import Any

import torch

from benchmarks.gpu.crowd import Crowd, Heard, Tally
from benchmarks.gpu.options import Options
from benchmarks.load.report import TOLERABLE_UNDERRUN_MS, percentiles
from benchmarks.models.desk import Desk
from benchmarks.models.voices import Made
from streaming.engine.loop import Engine
from streaming.runners.cosyvoice.runner import CosyVoiceRunner
from streaming.samples import SAMPLE_RATE

RAMP_SHARE = 0.25
"""Starts are spread over this share of a case."""

CLEAR_S = 30.0
"""How long cancelled contexts may take to let go."""

HOPELESS = 0.5
"""Where fewer than this share of contexts go without gaps, more contexts are not tried."""


def run(
    options: Options, made: Made, runner: CosyVoiceRunner, until_s: float
) -> Iterator[dict[str, Any]]:
    """A case after another, as long as there is time, room and hope."""
    settings = options.engine(made.checkpoint, made.voices_dir)
    ready = runner.ready(settings.slots)
    desk = Desk()
    engine = Engine(runner, settings, desk, desk)
    engine.begin()
    gc.collect()
    gc.freeze()
    known: set[str] = set()
    ctx = 1
    hopeless: int | None = None
    for count in options.cases:
        about: dict[str, Any] = {
            "device": ready.device,
            "contexts": count,
            **options.about,
        }
        if count > ready.slots:
            yield about | {"left_out": f"memory has room for {ready.slots} contexts"}
            continue
        if time.monotonic() + options.seconds > until_s:
            yield about | {"left_out": "no time is left"}
            continue
        if hopeless is not None:
            yield about | {"left_out": f"{hopeless} were too many already"}
            continue
        crowd = Crowd(desk, made.voices, known, ctx)
        try:
            took_s = _case(engine, desk, crowd, count, options.seconds)
        except Exception as error:  # noqa: BLE001 - whatever it is, the cases before it are told
            yield about | failure(error)
            return  # the engine is in the midst of something
        ctx = crowd.next_ctx
        found = about | figures(crowd.tally, took_s) | _memory(runner)
        yield found
        if (found["c100"] or 0.0) < HOPELESS:
            hopeless = count


def _case(engine: Engine, desk: Desk, crowd: Crowd, count: int, seconds: float) -> float:
    begin_s = desk.now()
    crowd.start(count, seconds * RAMP_SHARE)
    while desk.now() < begin_s + seconds:
        engine.turn()
    took_s = desk.now() - begin_s
    crowd.leave()
    while not crowd.gone:
        engine.turn()
        if desk.now() > begin_s + took_s + CLEAR_S:
            raise TimeoutError(f"contexts were not let go of within {CLEAR_S:.0f} s")
    return took_s


def failure(error: Exception) -> dict[str, Any]:
    """What is told of a case that came to no end."""
    traceback.print_exception(error)
    return {"failed": f"{type(error).__name__}: {error}"}


def figures(tally: Tally, took_s: float) -> dict[str, Any]:
    """What a case found. Pure."""
    spoken = [each for each in tally.heard if each.first_s is not None]
    audio_s = sum(each.samples for each in spoken) / SAMPLE_RATE
    smooth = sum(1000 * each.worst_s <= TOLERABLE_UNDERRUN_MS for each in spoken)
    worst_s = max((each.worst_s for each in spoken), default=0.0)
    return {
        "heard": len(spoken),
        "first_packet_ms": _firsts([each for each in spoken if not each.voice_is_new]),
        "first_packet_new_voice_ms": _firsts([each for each in spoken if each.voice_is_new]),
        "c100": round(smooth / len(spoken), 4) if spoken else None,
        "worst_underrun_ms": round(1000 * worst_s, 1),
        "rtf": round(tally.compute_s / audio_s, 4) if audio_s else None,
        "audio_s_per_s": round(audio_s / took_s, 2),
        "errors": dict(tally.errors),
        "seconds": round(took_s, 1),
    }


def _firsts(heard: list[Heard]) -> dict[str, float | None]:
    return percentiles([1000 * (each.first_s - each.asked_s) for each in heard if each.first_s])


def _memory(runner: CosyVoiceRunner) -> dict[str, Any]:
    taken = {name: round(value) for name, value in runner.figures().items()}
    if not torch.cuda.is_available():
        return {"memory": taken}
    return {"memory": taken | {"reserved_bytes": torch.cuda.memory_reserved()}}
