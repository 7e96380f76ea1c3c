"""16 bits, from text to samples: how far from 32, what is kept in 32, and what breaks alone."""

import numpy as np
import pytest
import torch
from cosyvoice_rig import ENGLISH, Rig, load, settled

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.sizes import SPEECH_TOKENS
from streaming.messages import Failed, Finished
from streaming.runners.cosyvoice import models
from streaming.runners.cosyvoice.device import PRECISIONS

MEL_ERRORS = {"bf16": 0.02, "fp16": 0.003}
"""Root mean square, of the mel's own spread, on the tiny checkpoint; a quarter of it is seen."""

SOUND_ERRORS = {"bf16": 0.1, "fp16": 0.02}
"""Likewise, of the loudness: errors of the mel's pitch add up in the phase."""

HALVES = list(MEL_ERRORS)
ODD = "ß"
"""A letter that nobody else says."""


@pytest.fixture(scope="module", params=HALVES)
def precision(request):
    return request.param


@pytest.fixture(scope="module")
def half(checkpoint, precision, tmp_path_factory):
    """On a CPU fp16 is refused, as slow as it is; to compute what a GPU would it will do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            models, "choose", lambda asked: (torch.device("cpu"), PRECISIONS[asked.precision])
        )
        return load(checkpoint, tmp_path_factory.mktemp("half"), precision=precision)


def test_contexts_speak_side_by_side(half, precision):
    rig = Rig(half)
    for ctx in (1, 2):
        rig.speak(ctx, "Hello there.", seed=ctx)
    rig.run(1, 2)
    for ctx in (1, 2):
        assert rig.of(ctx, Finished)
        assert np.abs(rig.pcm(ctx)).max() > 100
    assert half.ready(2).device == f"cpu, {precision}"
    assert settled(half)


def test_mel_and_sound_are_near_those_of_32_bits(runner, half, precision):
    exact_mel, exact_sound = said(runner._speech.models)
    mel, sound = said(half._speech.models)
    assert bool(mel.isfinite().all())
    assert bool(sound.isfinite().all())
    assert off(mel, exact_mel) < MEL_ERRORS[precision]
    assert off(sound, exact_sound) < SOUND_ERRORS[precision]


def test_the_vocoder_is_that_of_32_bits(runner, half):
    mel, sound = said(runner._speech.models)
    assert torch.equal(half._speech.models.vocoder.whole(mel), sound)


def test_16_bits_are_what_pages_slots_and_large_matrices_have(half, precision):
    dtype, found = PRECISIONS[precision], half._speech.models
    assert {shelf.dtype for shelf in found.flow.pool.shelves.values()} == {dtype}
    assert found.decoder.cache.keys.dtype is dtype
    llm = found.decoder.model
    assert {name for name, weight in llm.named_parameters() if weight.dtype is torch.float32} == {
        name
        for name, _ in llm.named_parameters()
        if "norm" in name or name.startswith("llm_decoder")
    }
    assert found.vocoder.dtype is torch.float32


def test_logits_that_are_no_numbers_fail_their_context_alone(half):
    llm, tokenizer = half._speech.models.decoder.model, half._speech.models.tokenizer
    weight = llm.body.embed_tokens.weight.data
    (odd, *_), kept = tokenizer.encode(ODD), weight.clone()
    weight[odd] = torch.inf  # as a product beyond 65,504 would be
    try:
        rig = Rig(half)
        rig.speak(1, "Hello there.", seed=1)
        rig.speak(2, f"{ODD}{ODD}{ODD}.", seed=77)
        rig.speak(3, "Seven.", seed=3)
        rig.run(1, 2, 3)
    finally:
        weight.copy_(kept)
    assert [bool(rig.of(ctx, Finished)) for ctx in (1, 2, 3)] == [True, False, True]
    (failed,) = rig.of(2, Failed)
    assert (failed.code, failed.retryable) == ("synthesis_failed", True)
    assert "seed 77" in failed.message
    again = Rig(half)
    again.speak(4, f"{ODD}{ODD}{ODD}.", seed=77, voice=ENGLISH)
    assert again.run(4).of(4, Finished)  # its slot and its voice are sound
    assert settled(half)


def said(found):
    """The mel and the sound of the same tokens, with a voice of noise."""
    numbers = torch.Generator().manual_seed(3)
    ids = torch.randint(SPEECH_TOKENS, (100,), generator=numbers).tolist()
    mel = torch.randn(80, 80, generator=numbers)
    prompt = FlowPrompt(tuple(ids[:40]), mel, torch.randn(192, generator=numbers))
    flow = found.flow
    hop = flow.start(flow.begin(flow.voice(prompt)), ids[40:], last=True)
    while not hop.done:
        flow.euler([hop])
    return hop.mel, found.vocoder.whole(hop.mel)


def off(made, exact):
    return float((made - exact).square().mean().sqrt() / exact.std())
