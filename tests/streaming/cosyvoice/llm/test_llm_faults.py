"""What goes wrong in one row, or in a whole step."""

from __future__ import annotations

import pytest
import torch
from tiny_llms import TinyLlm

from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.decoding import Decoding
from streaming.cosyvoice.llm.errors import BadTokens
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT

PROMPT = LlmPrompt((END_OF_PROMPT, 5, 6), tuple(range(20)))


def begin(decoder: Decoder, seed: int) -> Decoding:
    return decoder.begin(PROMPT, range(seed % 7, 8), seed=seed, segment=2)


def finish(decoder: Decoder, *decodings: Decoding) -> list[list[int]]:
    while any(one.wants for one in decodings):
        decoder.step(decodings)
    return [one.tokens for one in decodings]


def poison(decoder: Decoder, decoding: Decoding, value: float) -> None:
    decoder.cache.values[0, decoding.slot, decoding.fed - 1] = value


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_row_that_is_not_finite_fails_alone_and_names_its_seed(
    value: float, tiny_llm: TinyLlm
) -> None:
    model = tiny_llm("cosyvoice3")
    wanted = finish(*_three(model))
    decoder, first, bad, last = _three(model)
    for _ in range(4):
        decoder.step([first, bad, last])
    poison(decoder, bad, value)
    one, failure, other = decoder.step([first, bad, last])
    assert isinstance(failure, BadTokens)
    assert "seed 71" in failure.message
    assert "segment 2" in failure.message
    assert (failure.code, failure.retryable) == ("synthesis_failed", True)
    assert isinstance(one, list)
    assert isinstance(other, list)
    assert bad.done
    assert not bad.wants
    assert decoder.prefix_of(bad) is None
    finish(decoder, first, last)
    assert [first.tokens, last.tokens] == [wanted[0], wanted[2]]


def test_the_slot_of_a_failed_row_is_clean_for_the_next(tiny_llm: TinyLlm) -> None:
    decoder = Decoder(tiny_llm("cosyvoice3"), slots=1, positions=300)
    (wanted,) = finish(decoder, clean := begin(decoder, 70))
    decoder.release(clean)
    bad = begin(decoder, 70)
    for _ in range(3):
        decoder.step([bad])
    poison(decoder, bad, torch.nan)
    while not bad.done:
        decoder.step([bad])
    decoder.release(bad)
    assert finish(decoder, begin(decoder, 70)) == [wanted]


@pytest.mark.parametrize("choice", [-1, 6563, 100_000])
def test_a_choice_out_of_range_fails_the_row(choice: int, tiny_llm: TinyLlm) -> None:
    def wild(_logits: torch.Tensor, _history: torch.Tensor, draw: object) -> torch.Tensor:
        return torch.full_like(draw.slots, choice)

    decoder = Decoder(tiny_llm("cosyvoice3"), slots=1, positions=300, sampler=wild)
    decoding = begin(decoder, 70)
    results: list[object] = []
    while not decoding.done:
        results += decoder.step([decoding])
    assert isinstance(results[-1], BadTokens)
    assert f"choice {choice}" in str(results[-1])


def test_a_step_that_raised_may_be_tried_again(tiny_llm: TinyLlm) -> None:
    model = tiny_llm("cosyvoice3")
    wanted = finish(*_three(model))
    decoder, *three = _three(model)

    def out_of_memory(*_: object) -> None:
        raise torch.OutOfMemoryError("no memory left")

    for at in range(5):
        layer = model.body.layers[at % 2]
        fault = layer.mlp.register_forward_pre_hook(out_of_memory)
        with pytest.raises(torch.OutOfMemoryError):
            decoder.step(three)
        fault.remove()
        decoder.step(three)
    assert finish(decoder, *three) == wanted


def _three(model: object) -> tuple[Decoder, Decoding, Decoding, Decoding]:
    decoder = Decoder(model, slots=3, positions=300)
    return decoder, begin(decoder, 70), begin(decoder, 71), begin(decoder, 72)
