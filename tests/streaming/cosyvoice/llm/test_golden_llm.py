"""The official code's outputs on tiny models, of both generations."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.sampler import Draw, Sampling, nucleus
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import Generation, Sizes

Golden = dict[str, Tensor]
GENERATIONS: tuple[Generation, ...] = ("cosyvoice2", "cosyvoice3")


@pytest.fixture(scope="module", params=GENERATIONS)
def model(
    request: pytest.FixtureRequest,
    golden_sizes: Callable[[Generation], Sizes],
    golden_fill: Callable[[nn.Module], nn.Module],
) -> SpeechLlm:
    llm = SpeechLlm(golden_sizes(request.param).llm)
    golden_fill(llm)
    return llm


class Case:
    """The golden inputs of a model's generation."""

    def __init__(self, model: SpeechLlm, golden: Golden) -> None:
        self._golden = golden
        self._of = model.sizes.generation
        self.prompt = LlmPrompt(self.ids("prompt_text"), self.ids("prompt_speech_token"))

    def ids(self, name: str) -> tuple[int, ...]:
        return tuple(self.tensor(name).flatten().tolist())

    def tensor(self, name: str) -> Tensor:
        return self._golden[f"{self._of}.llm.{name}"]


@pytest.fixture
def case(model: SpeechLlm, golden: Golden) -> Case:
    return Case(model, golden)


class Forced:
    """A sampler that hears the logits and answers what it was told to."""

    def __init__(self, tokens: tuple[int, ...]) -> None:
        self._tokens = iter(tokens)
        self.logits: list[Tensor] = []

    def __call__(self, logits: Tensor, _history: Tensor, draw: Draw) -> Tensor:
        self.logits.append(logits[0].clone())
        return torch.full_like(draw.slots, next(self._tokens))


def test_log_probabilities_before_forced_tokens(model: SpeechLlm, case: Case) -> None:
    forced = case.ids("forced")
    sampler = Forced(forced)
    decoder = Decoder(model, slots=1, positions=400, sampler=sampler)
    decoding = decoder.begin(case.prompt, case.ids("text"), seed=0, segment=0)
    while len(sampler.logits) < len(forced):
        decoder.step([decoding])
    made = torch.stack(sampler.logits).log_softmax(dim=-1)
    wanted = case.tensor("logp")
    compared = wanted.isfinite()
    torch.testing.assert_close(made[compared], wanted[compared], atol=1e-4, rtol=0)


def test_greedy_decoding(model: SpeechLlm, case: Case) -> None:
    decoder = Decoder(model, slots=1, positions=600, sampling=Sampling(greedy=True))
    decoding = decoder.begin(case.prompt, case.ids("text"), seed=0, segment=0)
    while not decoding.done:
        decoder.step([decoding])
    assert tuple(decoding.tokens) == case.ids("greedy")


def test_interleaved_decoding_with_text_fed_one_by_one(model: SpeechLlm, case: Case) -> None:
    decoder = Decoder(model, slots=1, positions=600, sampling=Sampling(greedy=True))
    decoding = decoder.begin(case.prompt, (), seed=0, segment=0, streamed=True)
    for one in case.ids("bistream_text"):
        decoder.append(decoding, [one])
        while decoding.wants:
            decoder.step([decoding])
    decoder.end_text(decoding)
    wanted = case.ids("bistream")
    while len(decoding.tokens) < len(wanted):
        decoder.step([decoding])
    assert tuple(decoding.tokens) == wanted


def test_the_nucleus(golden: Golden) -> None:
    ids, inside = nucleus(golden["ras.logits"].log_softmax(dim=-1), top_p=0.8, top_k=25)
    wanted = golden["ras.nucleus_ids"].long()
    assert torch.equal(torch.where(inside, ids, -1), wanted)
    p = golden["ras.logits"].softmax(dim=-1).gather(1, ids).where(inside, 0)
    torch.testing.assert_close(p, golden["ras.nucleus_prob"], atol=1e-6, rtol=0)
