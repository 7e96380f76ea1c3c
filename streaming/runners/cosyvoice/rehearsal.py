"""Speaks before anybody asks: a sentence alone, then its beginning with more and more at once.

So the first context finds everything warm, and the scheduler knows what batches cost on this
machine before it has seen one: the steps of one listener do not tell. Knows: steps, how long they
take. Does not know: networks.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from streaming.costs import Costs
from streaming.errors import DeviceFull
from streaming.runners.base import Made, StepResult, Work
from streaming.runners.cosyvoice.rhythm import LLM
from streaming.runners.cosyvoice.side_by_side import Speaker, Step, side_by_side
from streaming.segment import Segment
from streaming.steps import Cost, Stage

CROWDS = {8: 3.0, 64: 0.2}
"""After the sentence alone so many begin it at once, up to the first sound of each. A crowd is only
tried where what was spoken before it took at most so many seconds: eight rows tell enough of a slow
device, and little of a quick one."""

COLD_STEPS = 1
"""The first so many steps of each stage are not counted: no later step will cost what they do."""

_SENTENCE = "Ready to speak. 你好。"


@dataclass(frozen=True)
class Learned:
    """What steps cost, once that is known."""

    costs: Mapping[str, Cost]
    """By stage."""
    prefill_share: float = 1.0
    """What a token of a prompt costs in the LLM's step, where a token that is drawn costs 1."""


class Rehearsal:
    """One loaded model, heard before anybody asks; what its steps cost is then ``learned``."""

    def __init__(
        self,
        speaker: Speaker,
        stages: Sequence[Stage],
        voice: str,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._speaker = speaker
        self._stages = stages
        self._voice = voice
        self._now = now
        self._costs = Costs({stage.name: stage.prior for stage in stages})
        self._ran: Counter[str] = Counter()
        self._prefills: list[tuple[float, float]] = []
        """Units and seconds of the LLM's steps over a prompt. They are launched and batched in
        other ways than its other steps, so no line fits both."""

    def cost(self, stage: Stage) -> Cost:
        """What a step of the stage costs."""
        return self._costs.line(stage.name)

    @property
    def learned(self) -> Learned:
        """All of it."""
        costs = {stage.name: self.cost(stage) for stage in self._stages}
        return Learned(costs, self.prefill_share)

    @property
    def prefill_share(self) -> float:
        """As ``Learned.prefill_share``."""
        line = self._costs.line(LLM)
        if not (self._prefills and line.unit_s):
            return 1.0
        rows = [(took_s - line.base_s) / line.unit_s / units for units, took_s in self._prefills]
        return max(0.0, median(rows))

    def run(self, most: int) -> None:
        """All of it; ``most`` is how many may speak at once. Raises what a step raised."""
        took_s = self._speak(1, whole=True)
        for crowd, longest_s in CROWDS.items():
            if crowd > most or took_s > longest_s:
                return
            took_s = self._speak(crowd, whole=False)

    def _speak(self, crowd: int, *, whole: bool) -> float:
        """Let so many speak at once, to the end or until each was heard; seconds of their steps."""
        works = [_work(ctx, self._voice) for ctx in range(crowd)]
        for work in works:
            work.state = self._speaker.begin(work)
        took_s = 0.0
        try:
            for step in side_by_side(self._speaker, self._stages, works, self._now):
                took_s += step.took_s
                self._learn(step)
                for work, result in zip(step.works, step.results, strict=True):
                    if _over(result, whole=whole):
                        works.remove(work)
                        self._speaker.release(work.state)
        except DeviceFull:
            if whole:
                raise
            return float("inf")  # there is no room for so many
        finally:
            for work in works:
                self._speaker.release(work.state)
        return took_s

    def _learn(self, step: Step) -> None:
        units = sum(step.units)
        self._ran[step.stage] += 1
        if self._ran[step.stage] <= COLD_STEPS:
            return
        if step.stage == LLM and units > len(step.units):
            self._prefills.append((units, step.took_s))
        else:
            self._costs.learn(step.stage, units, step.took_s)


def _over(result: StepResult, *, whole: bool) -> bool:
    """Whether the context is to go no further; raises what it got in place of samples."""
    if not isinstance(result, Made):
        raise result
    return result.done or (not whole and len(result.samples) > 0)


def _work(ctx: int, voice: str) -> Work:
    segment = Segment(
        index=0,
        text=_SENTENCE,
        source=_SENTENCE,
        char_start=0,
        char_end=len(_SENTENCE),
        ending="end",
    )
    return Work(ctx=ctx, segment=segment, voice=voice, speed=1.0, seed=0)
