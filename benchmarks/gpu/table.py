"""What a step of each stage costs on this device, as the simulator reads it.

Contexts go through the stages side by side, 1 to many at once; the median step of each size makes
a line. ``benchmarks.capacity`` reads the file. Knows: the runner's steps. Does not know: deadlines.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.models.lockstep import Task, speak
from benchmarks.models.watched import Took, WatchedRunner
from streaming.steps import Cost

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TEXT = "Stay with us, there is music at the end, and a question that nobody has answered yet."


def write(path: Path, runner: WatchedRunner, voices: Sequence[str], most: int) -> dict[str, Cost]:
    """Measure and write it; the costs by stage."""
    costs = measure(runner, voices, most)
    table = {
        "device": runner.ready(most).device,
        "costs": {stage: asdict(cost) for stage, cost in costs.items()},
    }
    path.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    return costs


def measure(runner: WatchedRunner, voices: Sequence[str], most: int) -> dict[str, Cost]:
    """Lines over tokens (LLM) and mel frames (flow, vocoder)."""
    steps: list[Took] = []
    for voice in voices[:most]:  # their making is no part of a step
        runner.load_voice(voice)
    speak(runner, [Task(TEXT, voice, 0) for voice in voices[:most]])
    runner.watch = steps.append
    for batch in (size for size in BATCHES if size <= most):
        speak(runner, [Task(TEXT, voices[row % len(voices)], row) for row in range(batch)])
    return {
        stage.name: line([step for step in steps if step.stage == stage.name and step.units])
        for stage in runner.stages
    }


def line(steps: Sequence[Took]) -> Cost:
    """The best line through the medians of each size, without a negative base or slope.

    Each median counts by its relative error, or the largest steps alone would decide the base.
    """
    by_units: dict[float, list[float]] = defaultdict(list)
    for step in steps:
        by_units[step.units].append(step.seconds)
    medians = {units: statistics.median(taken) for units, taken in by_units.items()}
    units, seconds = (np.array(values) for values in zip(*medians.items(), strict=True))
    if len(medians) == 1:
        return Cost(0.0, float(seconds[0] / units[0]))
    unit_s, base_s = (float(value) for value in np.polyfit(units, seconds, 1, w=1 / seconds))
    if base_s < 0.0:
        return Cost(0.0, float(np.mean(seconds / units)))
    return Cost(base_s, unit_s) if unit_s > 0.0 else Cost(float(seconds.mean()), 0.0)
