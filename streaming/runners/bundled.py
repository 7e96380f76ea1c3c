"""The voices that need no download, together: hibari's English and the Mandarin preview.

Needs the extra ``[mandarin]``; ``builtin.py`` asks whether it is there. Knows: which voice belongs
to whom. Does not know: how either speaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from streaming.config import EngineSettings
from streaming.costs import Costs
from streaming.messages import Ready
from streaming.runners.base import Copied, Later, StepResult, Work
from streaming.runners.embedded import EmbeddedRunner
from streaming.runners.mandarin.voice import MANDARIN, MandarinRunner
from streaming.segment import Segment
from streaming.steps import Following, Want


class BundledRunner:
    """Two runners as one; a step belongs to the runner of its voice."""

    stages = (*EmbeddedRunner.stages, *MandarinRunner.stages)

    def __init__(self, settings: EngineSettings) -> None:
        self._default = settings.default_voice
        if self._default == MANDARIN.id:
            settings = replace(settings, default_voice=None)
        self._english = EmbeddedRunner(settings, others=(MANDARIN,))
        self._mandarin = MandarinRunner(settings, self._english.known_voices)

    def load(self) -> None:
        """The default voice; any other when it is first asked for.

        Raises:
            UnknownVoice: the settings name one that is not there.
        """
        if self._default == MANDARIN.id:
            self._mandarin.load()
        else:
            self._english.load()

    def ready(self, slots: int) -> Ready:
        """The voices of both, under the one name that operators know."""
        english = self._english.ready(slots)
        return Ready(
            runner=english.runner,
            device=english.device,
            voices=(*english.voices, MANDARIN),
            default_voice=self._default or english.default_voice,
            slots=slots,
            options=english.options,
        )

    def begin(self, work: Work) -> Any:
        """What its voice's runner begins with."""
        return self._runner(work.voice).begin(work)

    def grow(self, work: Work, part: Segment) -> None:
        """Segments come whole to both."""

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """What its voice's runner wants."""
        return self._runner(work.voice).wants(work, costs)

    def has_voice(self, voice: str) -> bool:
        """Whether the runner of that voice has it."""
        return self._runner(voice).has_voice(voice)

    def load_voice(self, voice: str) -> None:
        """Let the runner of that voice load it."""
        self._runner(voice).load_voice(voice)

    def forget_voice(self, voice: str) -> None:
        """Neither runner has voices that can be removed."""

    def step(self, stage: str, batch: Sequence[Work]) -> Sequence[StepResult] | Later:
        """The stage's runner makes the steps."""
        mandarin = stage == MandarinRunner.stages[0].name
        return (self._mandarin if mandarin else self._english).step(stage, batch)

    def release(self, state: Any) -> None:
        """Neither runner holds anything."""

    def figures(self) -> dict[str, float]:
        """Neither runner counts anything."""
        return {}

    def copied(self) -> Sequence[Copied]:
        """Neither runner has a device."""
        return ()

    def unload(self) -> None:
        """Both are small, and stay."""

    def second(self, lane: str, contexts: int) -> Sequence[Following]:
        """The voices of either runner are computed in a thread of their own."""
        runner = self._mandarin if lane == MANDARIN.lane else self._english
        return runner.second(lane, contexts)

    def _runner(self, voice: str) -> MandarinRunner | EmbeddedRunner:
        return self._mandarin if voice == MANDARIN.id else self._english
