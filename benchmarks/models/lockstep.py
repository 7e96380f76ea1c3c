"""Contexts through the runner side by side: a step of each stage in turn, for all that want one.

No deadlines, no clock: who speaks alone and who speaks among others goes through the same hops, so
what they make, and what it costs, can be compared. Knows: the runner's calls. Does not know: the
engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from streaming.costs import Costs
from streaming.messages import Segment
from streaming.runners.base import Later, Made, Samples, StepResult, Work
from streaming.runners.cosyvoice.runner import CosyVoiceRunner

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
    done: bool = False

    @property
    def samples(self) -> Samples:
        """All of it."""
        return np.concatenate(self.chunks)


def speak(runner: CosyVoiceRunner, tasks: Sequence[Task]) -> list[Spoken]:
    """Say all tasks at once, to their ends.

    Raises:
        Exception: whatever a step made of a row instead of samples.
    """
    costs = Costs({stage.name: stage.prior for stage in runner.stages})
    rows = [_begun(runner, ctx, task) for ctx, task in enumerate(tasks, 1)]
    while not all(row.done for row in rows):
        for stage in runner.stages:
            batch = [row for row in rows if _wants(runner, row, stage.name, costs)]
            for begin in range(0, len(batch), stage.max_batch):
                _step(runner, stage.name, batch[begin : begin + stage.max_batch])
    return rows


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


def _wants(runner: CosyVoiceRunner, row: Spoken, stage: str, costs: Costs) -> bool:
    return not row.done and any(want.stage == stage for want in runner.wants(row.work, costs))


def _step(runner: CosyVoiceRunner, stage: str, batch: Sequence[Spoken]) -> None:
    results = runner.step(stage, [row.work for row in batch])
    if isinstance(results, Later):
        results = results.land(results.made.result())
    for row, result in zip(batch, results, strict=True):
        _take(runner, row, result)


def _take(runner: CosyVoiceRunner, row: Spoken, result: StepResult) -> None:
    if not isinstance(result, Made):
        raise result
    row.chunks.append(result.samples)
    if result.done:
        row.done = True
        row.tokens = tuple(row.work.state.decoding.tokens)
        runner.release(row.work.state)
