"""Our own networks against what they made before, whole and in pieces: needs no other folder."""

import numpy as np
import own_golden_rule as rule
import pytest
import torch

from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.v2.network import NetworkV2
from streaming.cosyvoice.flow.v3.network import NetworkV3
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.sizes import BLOCK_TOKENS, LOOKAHEAD_TOKENS

CLOSE = 1e-4
FLOW_BYTES = 1 << 28


@pytest.fixture(scope="module")
def stored():
    with np.load(rule.FILE) as file:
        return dict(file)


@pytest.fixture(scope="module", params=rule.GENERATIONS)
def networks(request):
    return rule.networks(request.param)


@pytest.fixture
def wanted(networks, stored):
    """``wanted(name)``: what that generation's networks made."""
    return lambda name: stored[f"{networks.generation}.{name}"]


@pytest.fixture(scope="module")
def flow(networks):
    kind = NetworkV2 if networks.generation == "cosyvoice2" else NetworkV3
    return Flow(kind(networks.flow, device=torch.device("cpu")), budget_bytes=FLOW_BYTES)


def far(made, wanted):
    made = np.asarray(made)
    assert made.shape == wanted.shape
    return np.abs(made - wanted).max()


def test_it_is_small_enough_to_come_along():
    assert rule.FILE.stat().st_size < 300_000


def test_the_weights_are_those_that_everything_was_made_with(networks, wanted):
    assert networks.weights == wanted("weights"), "the rule of tiny checkpoints has changed"


class TestFlow:
    @pytest.mark.parametrize("streaming", [True, False])
    def test_in_one_pass(self, networks, wanted, stored, streaming):
        prompt, tokens = rule.flow_case(stored)
        given = tokens if streaming else tokens[: rule.OFFLINE_TOKENS]
        made = networks.flow.one_pass(prompt, given, streaming=streaming).detach()
        assert far(made, wanted("flow.streaming" if streaming else "flow.offline")) < CLOSE

    @pytest.mark.parametrize("longer", [(0,), (1,), (2,), (0, 1), (1, 0)])
    def test_in_hops_of_every_length(self, flow, wanted, stored, longer):
        prompt, tokens = rule.flow_case(stored)
        made = spoken(flow, [hops(flow, prompt, tokens, longer)])
        assert far(made[0], wanted("flow.streaming")) < CLOSE

    def test_beside_others_that_are_elsewhere(self, flow, wanted, stored):
        prompt, tokens = rule.flow_case(stored)
        cut = rule.flow_case(stored | {"flow.embedding": -stored["flow.embedding"]})[0]
        together = [
            hops(flow, cut, tokens[::-1], (0,)),
            hops(flow, prompt, tokens, (0, 1)),
            hops(flow, cut, tokens[:7], (0,)),
        ]
        made = spoken(flow, together, joins=3)
        assert far(made[1], wanted("flow.streaming")) < CLOSE
        assert far(made[0], wanted("flow.streaming")) > 0.1


class TestVocoder:
    def test_in_one_pass(self, networks, wanted, stored):
        made = networks.vocoder.whole(torch.from_numpy(stored["vocoder.mel"]), seed=3)
        assert far(made, wanted("vocoder.wave") / rule.FULL_SCALE) < CLOSE

    @pytest.mark.parametrize("hop", [1, 7, 10, 16, 39])
    def test_in_chunks(self, networks, wanted, stored, hop):
        made = chunked(networks.vocoder, stored["vocoder.mel"], hop)
        whole = wanted("vocoder.wave") / rule.FULL_SCALE
        if networks.generation == "cosyvoice3":
            assert far(made, whole) < CLOSE
        else:  # not causal: chunks overlap and fade into each other
            assert made.shape == whole.shape
            assert np.corrcoef(made, whole)[0, 1] > 0.99


class TestLlm:
    def test_the_first_probabilities(self, networks, wanted):
        made = rule.first_logits(networks)[wanted("llm.first_ids")]
        assert far(made, wanted("llm.first_logp")) < CLOSE

    @pytest.mark.parametrize("prefill_tokens", [256, 3])
    def test_the_likeliest_tokens(self, networks, wanted, prefill_tokens):
        made = rule.decoded(networks, greedy=True, prefill_tokens=prefill_tokens)
        assert made == wanted("llm.greedy").tolist()

    def test_the_likeliest_tokens_of_streamed_text(self, networks, wanted):
        made = rule.decoded(networks, greedy=True, streamed=True, prefill_tokens=5)
        assert made == wanted("llm.streamed").tolist()

    def test_drawn_tokens_of_several_seeds_that_join_one_after_another(self, networks, wanted):
        decoder = Decoder(networks.llm, slots=4, positions=rule.POSITIONS, prefill_tokens=16)
        kept = decoder.prefix(networks.llm_prompt)
        speaking = []
        for seed, prefix in zip(rule.SEEDS, (None, kept, kept), strict=True):
            begun = decoder.begin(
                networks.llm_prompt, networks.text, seed=seed, segment=2, prefix=prefix
            )
            speaking.append(begun)
            for _ in range(5):
                decoder.step(speaking)
        while any(each.wants for each in speaking):
            decoder.step(speaking)
        for seed, each in zip(rule.SEEDS, speaking, strict=True):
            assert each.tokens == wanted(f"llm.seed{seed}").tolist()


def hops(flow, prompt, tokens, longer):
    """One context's hops, begun when they are asked for.

    Each is so many blocks longer than the least, the last number for ever.
    """
    state, at, numbers = flow.begin(flow.voice(prompt)), 0, list(longer)
    while not state.ended:
        end = at + flow.next_hop(state) + BLOCK_TOKENS * numbers[0]
        numbers = numbers[1:] or numbers
        last = end + LOOKAHEAD_TOKENS >= len(tokens)
        given = tokens[at:] if last else tokens[at : end + LOOKAHEAD_TOKENS]
        hop = flow.start(state, given, last=last)
        yield hop
        state, at = hop.state, end


def spoken(flow, contexts, joins=1):
    """The mel of each; they begin ``joins`` Euler steps after one another."""
    mels = [[] for _ in contexts]
    current = [None] * len(contexts)
    step = 0
    while True:
        for index, context in enumerate(contexts):
            if step >= index * joins and (current[index] is None or current[index].done):
                if current[index] is not None:
                    mels[index].append(current[index].mel)
                current[index] = next(context, None)
        going = [hop for hop in current if hop is not None]
        if not going and step >= len(contexts) * joins:
            return [torch.cat(mel) for mel in mels]
        if going:
            flow.euler(going)
        step += 1


def chunked(vocoder, mel, hop):
    """The samples of a stream that gets so many frames at a time."""
    state, chunks, frames = vocoder.begin(3), [], torch.from_numpy(mel)
    for begin in range(0, len(frames), hop):
        new, last = frames[begin : begin + hop], begin + hop >= len(frames)
        ((samples, state),) = vocoder.step([(state, new, last)])
        chunks.append(samples)
    return torch.cat(chunks).numpy()
