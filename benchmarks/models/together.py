"""Eight contexts side by side, and the same eight one at a time: what a batch is worth.

Different voices, texts and seeds, in float32, through the runner. One thread computes, and its
processor time counts. Knows: what each stage took, what came out. Does not know: the engine,
deadlines.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.models.lockstep import Spoken, Task, speak
from benchmarks.models.watched import Took, WatchedRunner
from streaming.messages import SAMPLE_RATE

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


def measure(
    runner: WatchedRunner, ids: Sequence[str], *, texts: Sequence[str], rounds: int
) -> dict[str, Any]:
    """Seconds by stage, their ratios, and whether anybody notices the others."""
    tasks = [Task(text, ids[number % len(ids)], seed=number) for number, text in enumerate(texts)]
    for task in tasks:  # each voice is made before anything is measured
        speak(runner, [Task(texts[0], task.voice, 0)])
    alone, alone_s = _timed(runner, [[task] for task in tasks], rounds)
    together, together_s = _timed(runner, [tasks], rounds)
    return {
        "contexts": len(tasks),
        **{stage: round(alone_s[stage] / together_s[stage], 2) for stage in together_s},
        "alone": _audio_s_per_s(alone, alone_s),
        "together": _audio_s_per_s(together, together_s),
        **_apart(alone, together),
    }


def _timed(
    runner: WatchedRunner, groups: Sequence[Sequence[Task]], rounds: int
) -> tuple[list[Spoken], dict[str, float]]:
    """What was said, and each stage's seconds in the round that was quickest for it."""
    least: dict[str, float] = {}
    runner.clock = time.thread_time
    for _ in range(rounds):
        steps: list[Took] = []
        runner.watch = steps.append
        spoken = [each for group in groups for each in speak(runner, group)]
        for stage in (stage.name for stage in runner.stages):
            took_s = sum(step.seconds for step in steps if step.stage == stage)
            least[stage] = min(took_s, least.get(stage, took_s))
    return spoken, least


def _audio_s_per_s(spoken: Sequence[Spoken], took_s: dict[str, float]) -> dict[str, float]:
    """By stage, were it alone, and of all three one after another."""
    audio_s = sum(each.samples.size for each in spoken) / SAMPLE_RATE
    seconds = took_s | {"all": sum(took_s.values())}
    return {stage: round(audio_s / value, 2) for stage, value in seconds.items()}


def _apart(alone: Sequence[Spoken], together: Sequence[Spoken]) -> dict[str, Any]:
    pairs = list(zip(alone, together, strict=True))
    same = all(first.tokens == second.tokens for first, second in pairs)
    if not same:
        return {"tokens_equal": False, "audio_apart": None}
    apart = max(float(np.abs(first.samples - second.samples).max()) for first, second in pairs)
    return {"tokens_equal": True, "audio_apart": float(f"{apart:.2g}")}
