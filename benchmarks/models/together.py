"""Eight contexts side by side, and the same eight one at a time: what a batch is worth.

Different voices, texts and seeds, in float32, through the runner. One thread computes, and its
processor time counts; the time on the wall stands beside it, with whatever else the machine does.
Knows: what each stage took, what came out. Does not know: the engine, deadlines.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.models.lockstep import Spoken, Task, speak
from benchmarks.models.watched import Took, WatchedRunner
from streaming.samples import SAMPLE_RATE

TEXTS = (
    "The ferry leaves at nine.",
    "Rain is on its way from the west.",
    "Stay with us, there is music.",
    "He rings before he comes.",
    "Thank you for calling us today.",
    "It is good to see so many of you.",
    "We talk to a baker at three.",
    "Nobody has answered yet.",
)
ROUNDS = 2


@dataclass(frozen=True)
class Timed:
    """The same contexts, said in one way."""

    spoken: list[Spoken]
    stage_s: dict[str, float]
    """Processor seconds of each stage, in the round that was quickest for it."""
    wall_s: float
    """Of the quickest round, from the texts to the last sample."""

    @property
    def audio_s(self) -> float:
        """Of all contexts."""
        return sum(each.samples.size for each in self.spoken) / SAMPLE_RATE

    @property
    def seconds(self) -> dict[str, float]:
        """By stage, of all three one after another, and on the wall."""
        return self.stage_s | {"all": sum(self.stage_s.values()), "wall": self.wall_s}

    def figures(self) -> dict[str, Any]:
        """Audio seconds a second by stage, were it alone, and what they were counted from."""
        rates = {name: round(self.audio_s / value, 2) for name, value in self.seconds.items()}
        return rates | {"seconds": {name: round(value, 2) for name, value in self.seconds.items()}}


def measure(
    runner: WatchedRunner, ids: Sequence[str], *, texts: Sequence[str], rounds: int
) -> dict[str, Any]:
    """Seconds by stage, their ratios, and whether anybody notices the others."""
    tasks = [Task(text, ids[number % len(ids)], seed=number) for number, text in enumerate(texts)]
    for task in tasks:  # each voice is made before anything is measured
        speak(runner, [Task(texts[0], task.voice, 0)])
    alone = _timed(runner, [[task] for task in tasks], rounds)
    together = _timed(runner, [tasks], rounds)
    return {
        "contexts": len(tasks),
        "audio_s": round(together.audio_s, 2),
        **{
            name: round(alone.seconds[name] / together_s, 2)
            for name, together_s in together.seconds.items()
        },
        "alone": alone.figures(),
        "together": together.figures(),
        **_apart(alone.spoken, together.spoken),
    }


def _timed(runner: WatchedRunner, groups: Sequence[Sequence[Task]], rounds: int) -> Timed:
    least_s: dict[str, float] = {}
    wall_s = float("inf")
    runner.clock = time.thread_time
    for _ in range(rounds):
        steps: list[Took] = []
        runner.watch = steps.append
        began_s = time.perf_counter()
        spoken = [each for group in groups for each in speak(runner, group)]
        wall_s = min(wall_s, time.perf_counter() - began_s)
        for stage in (stage.name for stage in runner.stages):
            took_s = sum(step.seconds for step in steps if step.stage == stage)
            least_s[stage] = min(took_s, least_s.get(stage, took_s))
    return Timed(spoken, least_s, wall_s)


def _apart(alone: Sequence[Spoken], together: Sequence[Spoken]) -> dict[str, Any]:
    pairs = list(zip(alone, together, strict=True))
    same = all(first.tokens == second.tokens for first, second in pairs)
    if not same:
        return {"tokens_equal": False, "audio_apart": None}
    apart = max(float(np.abs(first.samples - second.samples).max()) for first, second in pairs)
    return {"tokens_equal": True, "audio_apart": float(f"{apart:.2g}")}
