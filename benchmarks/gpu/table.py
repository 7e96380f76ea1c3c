"""What a step of each stage costs on this device, as the simulator reads it.

Contexts go through the stages side by side, 1 to many at once, from the beginning of a text to its
end: so steps of every size are met at every length of what they look back at. The median of each
size and length counts. ``benchmarks.capacity`` reads the file. Knows: the runner's steps. Does not
know: deadlines.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.models.lockstep import Task, speak
from benchmarks.models.watched import Took, WatchedRunner
from streaming.cosyvoice.sizes import BLOCK_FRAMES
from streaming.steps import Cost

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TEXT = "Stay with us, there is music at the end, and a question that nobody has answered yet."

ALIKE = BLOCK_FRAMES
"""Lengths that differ by less count as the same."""

APART = 1.5
"""Lengths that vary by less than so many times cannot tell what they cost."""

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def write(path: Path, runner: WatchedRunner, voices: Sequence[str], most: int) -> dict[str, Cost]:
    """Measure and write it; the costs by stage."""
    steps = measure(runner, voices, most)
    costs = {stage: line(taken) for stage, taken in steps.items()}
    table = {
        "device": runner.ready(most).device,
        "costs": {stage: asdict(cost) for stage, cost in costs.items()},
        "looked_back": {stage: _lengths(taken) for stage, taken in steps.items()},
    }
    path.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    return costs


def measure(runner: WatchedRunner, voices: Sequence[str], most: int) -> dict[str, list[Took]]:
    """The steps of each stage."""
    steps: list[Took] = []
    for voice in voices[:most]:  # their making is no part of a step
        runner.load_voice(voice)
    speak(runner, [Task(TEXT, voice, 0) for voice in voices[:most]])
    runner.watch = steps.append
    for batch in (size for size in BATCHES if size <= most):
        speak(runner, [Task(TEXT, voices[row % len(voices)], row) for row in range(batch)])
    return {
        stage.name: [step for step in steps if step.stage == stage.name and step.units]
        for stage in runner.stages
    }


def line(steps: Sequence[Took]) -> Cost:
    """The best plane through the medians of each size and length, with nothing negative.

    Each median counts by its relative error, or the largest steps alone would decide the base.
    """
    alike: dict[tuple[float, int], list[Took]] = defaultdict(list)
    for step in steps:
        alike[step.units, round(step.looks / step.units / ALIKE)].append(step)
    seconds = np.array([statistics.median(s.seconds for s in group) for group in alike.values()])
    units = np.array([units for units, _ in alike])
    looks = np.array([statistics.mean(s.looks for s in group) for group in alike.values()])
    parts = {"unit_s": units, "base_s": np.ones_like(units)}
    if _tell(steps):
        parts["look_s"] = looks
    return Cost(**{"unit_s": 0.0} | _fitted({k: v / seconds for k, v in parts.items()}))


def _tell(steps: Sequence[Took]) -> bool:
    least, most = _lengths(steps)
    return most > APART * least


def _lengths(steps: Sequence[Took]) -> tuple[float, float]:
    """That a unit looked back at, at least and at most, where it did at all."""
    lengths = [step.looks / step.units for step in steps if step.looks] or [0.0]
    return min(lengths), max(lengths)


def _fitted(parts: dict[str, Floats]) -> dict[str, float]:
    """What of each part makes 1 of all, by least squares; parts that would be negative are none."""
    return min(_candidates(parts), key=lambda found: found[0])[1]


def _candidates(parts: dict[str, Floats]) -> Iterator[tuple[float, dict[str, float]]]:
    """Each with its error, those of fewer parts first."""
    for count in range(1, len(parts) + 1):
        for names in combinations(parts, count):
            shares = np.stack([parts[name] for name in names], axis=1)
            made, _, rank, _ = np.linalg.lstsq(shares, np.ones(len(shares)))
            if rank == count and made.min() >= 0.0:
                error = float(np.square(shares @ made - 1.0).sum())
                yield round(error, 12), dict(zip(names, map(float, made), strict=True))
