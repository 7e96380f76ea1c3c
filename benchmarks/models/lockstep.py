"""Texts through the runner side by side, to their ends.

Who speaks alone and who speaks among others goes through the same hops, so what they make, and what
it costs, can be compared. Knows: the runner's calls. Does not know: the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from streaming.runners.base import Made, Samples, StepResult, Work
from streaming.runners.cosyvoice.runner import CosyVoiceRunner
from streaming.runners.cosyvoice.side_by_side import side_by_side
from streaming.segment import Segment

AT_ONCE_S = 0.0
"""The slack of everybody: hops are as small as they can be."""


@dataclass(frozen=True)
class Task:
    """Something to say."""

    text: str
    voice: str
    seed: int


@dataclass(eq=False)
class Spoken:
    """What was made of a task."""

    work: Work
    tokens: tuple[int, ...] = ()
    chunks: list[Samples] = field(default_factory=list)

    @property
    def samples(self) -> Samples:
        """All of it."""
        return np.concatenate(self.chunks)


def speak(runner: CosyVoiceRunner, tasks: Sequence[Task]) -> list[Spoken]:
    """Say all tasks at once, to their ends.

    Raises:
        Exception: whatever a step made of a row instead of samples.
    """
    spoken = [_begun(runner, ctx, task) for ctx, task in enumerate(tasks, 1)]
    works = [row.work for row in spoken]
    for step in side_by_side(runner, runner.stages, works):
        for work, result in zip(step.works, step.results, strict=True):
            if _take(runner, spoken[work.ctx - 1], result):
                works.remove(work)
    return spoken


def _begun(runner: CosyVoiceRunner, ctx: int, task: Task) -> Spoken:
    if not runner.has_voice(task.voice):
        runner.load_voice(task.voice)
    said = _work(ctx, task, None)
    return Spoken(_work(ctx, task, runner.begin(said)))


def _work(ctx: int, task: Task, state: object) -> Work:
    segment = Segment(
        index=0,
        text=task.text,
        source=task.text,
        char_start=0,
        char_end=len(task.text),
        ending="end",
        language="en",
    )
    return Work(
        ctx=ctx,
        segment=segment,
        voice=task.voice,
        speed=1.0,
        seed=task.seed,
        state=state,
        slack_s=AT_ONCE_S,
    )


def _take(runner: CosyVoiceRunner, row: Spoken, result: StepResult) -> bool:
    """Whether all of it is spoken."""
    if not isinstance(result, Made):
        raise result
    row.chunks.append(result.samples)
    if result.done:
        row.tokens = tuple(row.work.state.decoding.tokens)
        runner.release(row.work.state)
    return result.done
