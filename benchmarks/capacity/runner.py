"""CosyVoice without its networks: the same steps, of the length that a table says.

Knows: tokens, frames, costs, of the device and of the host. Does not know: what is said.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from benchmarks.capacity.device import Device
from benchmarks.capacity.serial import SerialDevice
from benchmarks.capacity.sound import SILENCE
from benchmarks.capacity.world import World
from benchmarks.looks import seen_blocks
from streaming.costs import Costs
from streaming.cosyvoice.flow import cut
from streaming.cosyvoice.sizes import BLOCK_FRAMES, BLOCK_TOKENS, FRAME_SAMPLES, TOKENS_PER_S
from streaming.messages import Ready, Voice
from streaming.runners.base import Copied, Later, Made, StepResult, Work
from streaming.runners.cosyvoice.progress import Progress
from streaming.runners.cosyvoice.rhythm import FIRST_HOP_TOKENS, RHYTHM, second, stages
from streaming.segment import Segment
from streaming.steps import Following, Want

TOKENS_PER_CHAR = 1.5
"""60 ms a character."""

RECORDING_TOKENS = 75
"""Speech tokens of a voice's recording, prefilled after each text: 3 s."""

WINDOW_S = 2.0
"""As ``benchmarks.gpu`` has it."""

AHEAD = 2
"""Of the LLM's steps, how many are under way at once, as on a GPU."""

HOST_ROW_S = 0.00001
"""What a row of a step costs the host's one thread, from its end to its next launch."""

VOICE = Voice(id="modelled", name="modelled", languages=("*",))


@dataclass(eq=False)
class Saying:
    """A segment on its way: its progress, and how many tokens it will have."""

    progress: Progress
    length_tokens: int
    held_back: int
    """Frames that the vocoder still keeps."""
    read_tokens: int
    """That the LLM looks at before what it makes."""


class ModelledRunner:
    """Steps that take as long as the device says."""

    def __init__(
        self,
        device: Device,
        world: World,
        *,
        max_batch: int,
        ahead: int = AHEAD,
        window_s: float = WINDOW_S,
        first_hop_tokens: int = FIRST_HOP_TOKENS["cuda"],
        seed: int = 1,
    ) -> None:
        """``window_s``: how far the flow looks back; 0: to the beginning."""
        self.stages = tuple(
            replace(stage, urgent=False)  # the device has one queue
            for stage in stages(max_batch, device.priors(window_s), ahead=ahead)
        )
        self.device = SerialDevice(world)
        self.begun = self.released = 0
        self._model = device
        self._world = world
        self._first_hop_tokens = first_hop_tokens
        self._voice_tokens = cut.prompt_tokens(RECORDING_TOKENS, first_hop_tokens=first_hop_tokens)
        self._window_blocks = round(window_s * TOKENS_PER_S / BLOCK_TOKENS) or None
        self._random = random.Random(seed)  # noqa: S311 - a model of speech, no secret
        self._steps = {"llm": self._llm, "flow": self._flow, "vocoder": self._vocoder}

    def load(self) -> None:
        """Nothing to load."""

    def ready(self, slots: int) -> Ready:
        """One voice."""
        return Ready(
            runner="modelled",
            device=self._model.name,
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
        self.begun += 1
        chars = len(work.segment.text)
        length = max(8, round(chars * TOKENS_PER_CHAR * self._random.uniform(0.85, 1.15)))
        reads = RECORDING_TOKENS + chars // 3
        progress = Progress(RHYTHM, self._first_hop_tokens, work.speed, prefill_tokens=reads)
        return Saying(progress, length, round(RHYTHM.held_back_tokens * 2), reads)

    def grow(self, work: Work, part: Segment) -> None:
        """Segments come whole."""

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """As its progress says."""
        saying: Saying = work.state
        return saying.progress.wants(work.slack_s, costs)

    def step(self, stage: str, batch: Sequence[Work]) -> Later:
        """Queue it on the device."""
        return self._steps[stage]([work.state for work in batch])

    def release(self, state: Saying) -> None:
        """Count it."""
        del state
        self.released += 1

    def figures(self) -> dict[str, float]:
        """None."""
        return {}

    def copied(self) -> Sequence[Copied]:
        """Nothing."""
        return ()

    def unload(self) -> None:
        """It stays."""

    def second(self, lane: str, contexts: int) -> Sequence[Following]:
        """As the networks."""
        del lane
        return second(contexts)

    def _llm(self, batch: list[Saying]) -> Later:
        units = looks = 0
        for saying in batch:
            prefill = saying.progress.prefill_tokens
            units += prefill or 1
            if not prefill:
                looks += saying.read_tokens + saying.progress.made_tokens
            saying.progress.begin_llm()

        def land() -> list[StepResult]:
            for saying in batch:
                saying.progress.end_llm()
                saying.progress.prefill_tokens = 0
                if not saying.progress.llm_done:
                    done = saying.progress.made_tokens + 1 >= saying.length_tokens
                    saying.progress.read_tokens(1, done=done)
            return _silence(batch)

        return self._launch(self._model.llm.of(units, looks), len(batch), land)

    def _flow(self, batch: list[Saying]) -> Later:
        frames = looks = 0.0
        for saying in batch:
            rows = saying.progress.whole_frames
            frames += rows
            looks += rows * self._seen_blocks(saying.progress) * BLOCK_FRAMES
            saying.progress.begin_euler()

        def land() -> list[StepResult]:
            for saying in batch:
                saying.progress.end_euler()
            return _silence(batch)

        return self._launch(self._model.flow.of(frames, looks), len(batch), land)

    def _seen_blocks(self, progress: Progress) -> int:
        end_tokens = self._voice_tokens + progress.taken_tokens + progress.hop
        voice_blocks = -(-self._voice_tokens // BLOCK_TOKENS)
        return seen_blocks(end_tokens, voice_blocks, self._window_blocks)

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
            results.append(Made(SILENCE[:samples], last, saying))
        return self._launch(self._model.vocoder.of(units), len(batch), lambda: results)

    def _launch(self, cost_s: float, rows: int, land: Callable[[], Sequence[StepResult]]) -> Later:
        done = self.device.launch(cost_s)

        def landing(_: None) -> Sequence[StepResult]:
            self._world.spend(HOST_ROW_S * rows)
            return land()

        return Later(done, landing)


def _silence(batch: list[Saying]) -> list[StepResult]:
    return [Made(_NOTHING, done=False, state=saying) for saying in batch]


_NOTHING = SILENCE[:0]
