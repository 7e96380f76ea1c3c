"""Steps of single tokens replayed, on a tape: what is drawn is what is drawn without."""

from __future__ import annotations

from collections.abc import Callable

import plain_kernels
import pytest
from capturing import tape
from tiny_llms import TinyLlm

from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation

PROMPT = LlmPrompt((END_OF_PROMPT, 5, 6), tuple(range(20)))


class Counted:
    """A record that counts what it recorded, or cannot record."""

    def __init__(self, *, works: bool = True) -> None:
        self.times = 0
        self._works = works

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        self.times += 1
        if not self._works:
            raise RuntimeError("no memory for a graph")
        return tape(work)


@pytest.mark.parametrize("generation", ["cosyvoice3", "cosyvoice2"])
def test_contexts_that_come_and_go_draw_the_same(generation: Generation, tiny_llm: TinyLlm) -> None:
    warmed = Counted()
    plain, taped, met = (
        Decoder(tiny_llm(generation), slots=6, positions=160, record=record)
        for record in (None, warmed, Counted())
    )
    assert taped.warm(64) == warmed.times > 4
    drawn = [spoken(decoder) for decoder in (plain, taped, met)]
    assert drawn[0] == drawn[1] == drawn[2]
    assert all(drawn[0])
    assert taped.warm(64) == warmed.times  # nothing was left to record


@pytest.mark.parametrize("generation", ["cosyvoice3", "cosyvoice2"])
def test_where_they_read_in_place_they_draw_the_same_in_fewer_shapes(
    generation: Generation, tiny_llm: TinyLlm
) -> None:
    record = Counted()
    plain = Decoder(tiny_llm(generation), slots=6, positions=160)
    in_place, taped = (
        Decoder(tiny_llm(generation), slots=6, positions=160, record=how, kernels=plain_kernels)
        for how in (None, record)
    )
    assert taped.warm(64) == record.times == len([1, 2, 4, 8])
    drawn = [spoken(decoder) for decoder in (plain, in_place, taped)]
    assert drawn[0] == drawn[1] == drawn[2]
    assert taped.warm(64) == record.times


def test_what_cannot_be_recorded_runs_as_it_is(
    tiny_llm: TinyLlm, caplog: pytest.LogCaptureFixture
) -> None:
    plain = Decoder(tiny_llm("cosyvoice3"), slots=6, positions=160)
    broken = Counted(works=False)
    decoder = Decoder(tiny_llm("cosyvoice3"), slots=6, positions=160, record=broken)
    assert spoken(decoder) == spoken(plain)
    assert broken.times > 0
    assert "language model steps of shape" in caplog.text
    assert "no memory for a graph" in caplog.text


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
