"""The real runner, with a watch on each of its steps.

Knows: when a step was launched and when it had come to its end. Does not know: who asked for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from benchmarks.looks import seen_blocks
from streaming.config import EngineSettings
from streaming.cosyvoice.sizes import BLOCK_FRAMES
from streaming.runners.base import Later, StepResult, Work
from streaming.runners.cosyvoice.progress import Progress
from streaming.runners.cosyvoice.rhythm import FLOW, LLM
from streaming.runners.cosyvoice.runner import CosyVoiceRunner
from streaming.runners.cosyvoice.utterance import Utterance

TEXT, PREFILL, TOKENS = "tokenize", "llm_prefill", "llm_tokens"


@dataclass(frozen=True)
class Took:
    """A step, or the text's way to ids."""

    part: str
    stage: str
    """Empty for the text."""
    rows: int
    units: float
    """As the cost model counts them: tokens, mel frames."""
    seconds: float
    looks: float = 0.0
    """Places before them that its rows look at in all."""


class WatchedRunner(CosyVoiceRunner):
    """Tells ``watch`` of each step; what it does is the runner's own."""

    def __init__(self, settings: EngineSettings) -> None:
        super().__init__(settings)
        self.watch: Callable[[Took], None] = lambda _: None
        self.clock: Callable[[], float] = time.perf_counter
        """On a CPU, where a step is computed in place, ``time.thread_time`` leaves out the rest."""

    def begin(self, work: Work) -> Utterance:
        """Text to ids, a voice, a place in each network."""
        began_s = self.clock()
        utterance = super().begin(work)
        self.watch(Took(TEXT, "", 1, len(work.segment.text), self.clock() - began_s))
        return utterance

    def step(self, stage: str, batch: Sequence[Work]) -> Sequence[StepResult] | Later:
        """A step is over when its results could be taken."""
        part, units, looks = _part(stage, batch), _units(stage, batch), _looks(stage, batch)
        began_s = self.clock()
        results = super().step(stage, batch)

        def over(_: Future[Any] | None = None) -> None:
            self.watch(Took(part, stage, len(batch), units, self.clock() - began_s, looks))

        if isinstance(results, Later):
            results.made.add_done_callback(over)
        else:
            over()
        return results


def _part(stage: str, batch: Sequence[Work]) -> str:
    if stage != LLM:
        return stage
    return PREFILL if any(work.state.progress.prefill_tokens for work in batch) else TOKENS


def _units(stage: str, batch: Sequence[Work]) -> float:
    rows: list[Progress] = [work.state.progress for work in batch]
    if stage == LLM:
        return sum(row.prefill_tokens or 1 for row in rows)
    if stage == FLOW:
        return sum(row.whole_frames for row in rows)
    return sum(max(1.0, row.waiting_frames / row.speed) for row in rows)


def _looks(stage: str, batch: Sequence[Work]) -> float:
    """Of all rows, each as far as it does: no row is filled up where attention is in place."""
    rows: list[Utterance] = [work.state for work in batch]
    if stage == LLM:
        return sum(_positions(row) for row in rows if not row.progress.prefill_tokens)
    if stage == FLOW:
        return BLOCK_FRAMES * sum(row.progress.whole_frames * _seen_blocks(row) for row in rows)
    return 0.0


def _positions(row: Utterance) -> int:
    return len(row.prompt.text) + len(row.text) + len(row.prompt.speech) + row.progress.made_tokens


def _seen_blocks(row: Utterance) -> int:
    """By its hop; a voice's are not counted."""
    if row.flow is None:
        return 0
    end_tokens = row.flow.position + row.progress.hop
    return seen_blocks(end_tokens, row.flow.voice.blocks, row.flow.window_blocks)
