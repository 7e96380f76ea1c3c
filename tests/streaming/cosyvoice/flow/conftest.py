"""A tiny flow of version 3 with random weights, things to say to it, and a way to have it said."""

from __future__ import annotations

import pytest
import torch

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.flow.v3.network import NetworkV3
from streaming.cosyvoice.sizes import LOOKAHEAD_TOKENS, SPEECH_TOKENS, DitSizes

SIZES = DitSizes(dim=32, depth=2, heads=2, head_dim=16, lookahead_channels=24)


@pytest.fixture(scope="session")
def tiny():
    """Every parameter is drawn, so that no bias or gain is one that changes nothing."""
    model = FlowV3(SIZES)
    random = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for value in model.parameters():
            drawn = torch.randn(value.shape, generator=random)
            value.copy_(0.1 * drawn if value.dim() == 1 else drawn / value[0].numel() ** 0.5)
    return model.eval()


@pytest.fixture(scope="session")
def network(tiny):
    return NetworkV3(tiny, device=torch.device("cpu"))


@pytest.fixture
def make_flow(network):
    """``make_flow(pages, network)``: a flow with that many pages."""

    def make(pages=40, network=network, **options):
        page_bytes = Flow(network, budget_bytes=2**26).pool.page_bytes
        return Flow(network, budget_bytes=(pages + 2) * page_bytes, **options)

    return make


@pytest.fixture
def flow(make_flow):
    return make_flow()


@pytest.fixture(scope="session")
def make_tokens():
    """``make_tokens(count, seed)``: a tuple of speech tokens."""

    def make(count, seed=0):
        random = torch.Generator().manual_seed(seed)
        return tuple(torch.randint(SPEECH_TOKENS, (count,), generator=random).tolist())

    return make


@pytest.fixture(scope="session")
def make_prompt(make_tokens):
    """``make_prompt(tokens, seed)``: a recording."""

    def make(count, seed=0):
        random = torch.Generator().manual_seed(seed)
        mel = torch.randn(2 * count, 80, generator=random)
        return FlowPrompt(make_tokens(count, 1000 + seed), mel, torch.randn(192, generator=random))

    return make


@pytest.fixture(scope="session")
def finish():
    """``finish(flow, *hops)``: all their Euler steps; the first of them."""

    def run(flow, *hops):
        while left := [hop for hop in hops if not hop.done]:
            flow.euler(left)
        return hops[0]

    return run


@pytest.fixture(scope="session")
def speak(finish):
    """``speak(flow, voice, tokens, blocks)``: the mel of a whole segment, and its states.

    ``blocks`` says how many blocks longer than the least each hop is, the last number again and
    again.
    """

    def run(flow, voice, tokens, blocks=(0,), **begin):
        state, mels, states = flow.begin(voice, **begin), [], []
        longer = list(blocks)
        while not state.ended:
            left = tokens[state.tokens_done :]
            hop_tokens = flow.next_hop(state) + 25 * longer[0]
            longer = longer[1:] or longer
            last = len(left) < hop_tokens + LOOKAHEAD_TOKENS
            given = left if last else left[: hop_tokens + LOOKAHEAD_TOKENS]
            hop = finish(flow, flow.start(state, given, last=last))
            state = hop.state
            mels.append(hop.mel)
            states.append(state)
        return torch.cat(mels), states

    return run
