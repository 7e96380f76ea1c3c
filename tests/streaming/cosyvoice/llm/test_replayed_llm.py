"""Steps of single tokens replayed, on a tape: what is drawn is what is drawn without."""

from __future__ import annotations

import pytest
import torch
from capturing import tape
from tiny_llms import TinyLlm

from streaming.cosyvoice.capture import Captured
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.graphs import Choices, Launcher
from streaming.cosyvoice.llm.packing import Packed, StepShape
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation

PROMPT = LlmPrompt((END_OF_PROMPT, 5, 6), tuple(range(20)))


class Taped(Launcher):
    """As on CUDA: each shape is recorded with padding alone, before it is used."""

    def __init__(self, launcher: Launcher) -> None:
        super().__init__(launcher._stepper)
        self.recorded: dict[StepShape, Captured] = {}

    def run(self, packed: Packed) -> Choices:
        if packed.chunks:
            return super().run(packed)
        shape = packed.shape
        if shape not in self.recorded:
            self.recorded[shape] = Captured(
                "llm", lambda given: (self._stepper.run(given[0], shape),), tape
            )
            self.recorded[shape](shape, [self._stepper.idle_table(shape)])
        (choices,) = self.recorded[shape](shape, [packed.table])
        return Choices(choices, None)


@pytest.mark.parametrize("generation", ["cosyvoice3", "cosyvoice2"])
def test_contexts_that_come_and_go_draw_the_same(generation: Generation, tiny_llm: TinyLlm) -> None:
    drawn = []
    for taped in (False, True):
        decoder = Decoder(tiny_llm(generation), slots=6, positions=160)
        if taped:
            decoder._launcher = Taped(decoder._launcher)
        with torch.inference_mode():
            drawn.append(spoken(decoder))
    assert drawn[0] == drawn[1]
    assert all(drawn[0])
    assert isinstance(decoder._launcher, Taped)
    assert decoder._launcher.recorded


def spoken(decoder: Decoder) -> list[list[int]]:
    """Five contexts, one more every few steps."""
    waiting = [(seed, range(1 + seed % 3, 8)) for seed in range(5)]
    begun = []
    for step in range(400):
        if waiting and step % 4 == 0:
            seed, text = waiting.pop()
            begun.append(decoder.begin(PROMPT, text, seed=seed, segment=1))
        going = [one for one in begun if one.wants]
        if not going and not waiting:
            break
        decoder.step(going)
    return [list(one.tokens) for one in begun]
