"""CosyVoice without its networks: the same steps, of the length that a table says.

The device is serial: a step begins when those launched before it have ended. Knows: tokens, frames,
costs. Does not know: what is said.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from benchmarks.capacity.device import Device
from benchmarks.capacity.world import World
from streaming.costs import Costs
from streaming.cosyvoice.sizes import FRAME_SAMPLES
from streaming.hops import first_hop_tokens
from streaming.messages import Ready, Voice
from streaming.runners.base import Later, Made, StepResult, Work
from streaming.runners.cosyvoice.progress import Progress
from streaming.runners.cosyvoice.rhythm import RHYTHM, second, stages
from streaming.steps import Following, Want

TOKENS_PER_CHAR = 1.5
"""60 ms a character."""

CACHED_PROMPT_TOKENS = 75
"""Speech tokens of a voice's recording, prefilled after each text: 3 s."""

VOICE = Voice(id="modelled", name="modelled", languages=("*",))


@dataclass
class Saying:
    """A segment on its way: its progress, and how many tokens it will have."""

    progress: Progress
    length_tokens: int
    held_back: int
    """Frames that the vocoder still keeps."""


class ModelledRunner:
    """Steps that take as long as the device says."""

    def __init__(self, device: Device, world: World, *, max_batch: int, seed: int) -> None:
        self.stages = stages(max_batch, device.costs)
        self.busy_s = 0.0
        self._device = device
        self._world = world
        self._random = random.Random(seed)  # noqa: S311 - a model of speech, no secret
        self._free_s = 0.0
        self._noise = np.full(8 * 100 * FRAME_SAMPLES, 0.1, np.float32)
        self._nothing = self._noise[:0]
        self._costs = Costs(device.costs)

    def load(self) -> None:
        """Nothing to load."""

    def ready(self, slots: int) -> Ready:
        """One voice."""
        return Ready(
            runner="modelled",
            device=self._device.name,
            voices=(VOICE,),
            default_voice=VOICE.id,
            slots=slots,
        )

    def has_voice(self, voice: str) -> bool:
        """It is there."""
        return voice == VOICE.id

    def load_voice(self, voice: str) -> None:
        """Raise: whatever is not there cannot be had."""
        raise KeyError(voice)

    def forget_voice(self, voice: str) -> None:
        """It stays."""

    def begin(self, work: Work) -> Saying:
        """How long it will be is drawn around what its text suggests."""
        chars = len(work.segment.text)
        length = max(8, round(chars * TOKENS_PER_CHAR * self._random.uniform(0.85, 1.15)))
        progress = Progress(
            RHYTHM,
            first_hop_tokens(RHYTHM, self._costs),
            work.speed,
            prefill_tokens=CACHED_PROMPT_TOKENS + chars // 3,
        )
        return Saying(progress, length, held_back=round(RHYTHM.held_back_tokens * 2))

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """As its progress says."""
        self._costs = costs
        saying: Saying = work.state
        return saying.progress.wants(work.slack_s, costs)

    def step(self, stage: str, batch: Sequence[Work]) -> Later:
        """Queue it on the device."""
        made = {"llm": self._llm, "flow": self._flow, "vocoder": self._vocoder}[stage]
        return made([work.state for work in batch])

    def release(self, state: Saying) -> None:
        """Nothing is held."""

    def figures(self) -> dict[str, float]:
        """None."""
        return {}

    def unload(self) -> None:
        """It stays."""

    def second(self, lane: str, contexts: int) -> Sequence[Following]:
        """As the networks."""
        del lane
        return second(contexts)

    def _llm(self, batch: list[Saying]) -> Later:
        units = 0
        for saying in batch:
            units += saying.progress.prefill_tokens or 1
            saying.progress.prefill_tokens = 0

        def land() -> list[StepResult]:
            for saying in batch:
                if not saying.progress.llm_done:
                    done = saying.progress.made_tokens + 1 >= saying.length_tokens
                    saying.progress.read_tokens(1, done=done)
            return [Made(self._nothing, done=False, state=saying) for saying in batch]

        return self._launch(self._device.llm.of(units), land)

    def _flow(self, batch: list[Saying]) -> Later:
        frames = 0
        for saying in batch:
            frames += saying.progress.hop * RHYTHM.frames_per_token
            saying.progress.begin_euler()

        def land() -> list[StepResult]:
            for saying in batch:
                saying.progress.end_euler()
            return [Made(self._nothing, done=False, state=saying) for saying in batch]

        return self._launch(self._device.flow.of(frames), land)

    def _vocoder(self, batch: list[Saying]) -> Later:
        results: list[StepResult] = []
        units = 0.0
        for saying in batch:
            frames = saying.progress.waiting_frames
            _, last = saying.progress.begin_vocoder()
            units += max(1.0, frames / saying.progress.speed)
            heard = frames if last else frames - saying.held_back
            saying.held_back = 0
            samples = round(max(0, heard) * FRAME_SAMPLES / saying.progress.speed)
            results.append(Made(self._noise[:samples], last, saying))
        return self._launch(self._device.vocoder.of(units), lambda: results)

    def _launch(self, cost_s: float, land: Callable[[], Sequence[StepResult]]) -> Later:
        self.busy_s += cost_s
        self._free_s = max(self._free_s, self._world.now()) + cost_s
        done: Future[None] = Future()
        self._world.at(self._free_s, lambda: done.set_result(None))
        return Later(done, lambda _: land())
