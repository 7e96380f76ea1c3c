"""A tiny flow of version 2 with random weights, things to say to it, and a way to have it said."""

from __future__ import annotations

import itertools

import pytest
import torch

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.v2.module import FlowV2
from streaming.cosyvoice.flow.v2.network import NetworkV2
from streaming.cosyvoice.sizes import LOOKAHEAD_TOKENS, SPEECH_TOKENS, UnetSizes

SIZES = UnetSizes(
    encoder_dim=32,
    encoder_heads=2,
    encoder_feed_forward=48,
    encoder_blocks=2,
    channels=24,
    blocks=1,
    middle_blocks=1,
    heads=2,
    head_dim=8,
)


@pytest.fixture(scope="session")
def tiny():
    """Every parameter is drawn, so that no bias or gain is one that changes nothing."""
    model = FlowV2(SIZES)
    random = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name, value in model.named_parameters():
            drawn = torch.randn(value.shape, generator=random)
            if value.dim() == 1:
                value.copy_(0.1 * drawn + (1 if "norm" in name and name.endswith("weight") else 0))
            else:
                value.copy_(drawn / value[0].numel() ** 0.5)
    return model


@pytest.fixture(scope="session")
def network(tiny):
    return NetworkV2(tiny, device=torch.device("cpu"))


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
        random = torch.Generator().manual_seed(1000 + seed)
        return FlowPrompt(
            tokens=make_tokens(count, 2000 + seed),
            mel=torch.randn(2 * count, 80, generator=random),
            embedding=torch.randn(192, generator=random),
        )

    return make


@pytest.fixture(scope="session")
def hops_of():
    """``hops_of(flow, state, tokens, blocks)``: the context's hops, begun one at a time.

    Each ends as many blocks later than it has to as ``blocks`` says. A hop must be done before
    the next is asked for.
    """

    def each(flow, state, tokens, blocks=()):
        blocks, at = itertools.chain(blocks, itertools.repeat(0)), 0
        while not state.ended:
            end = at + flow.next_hop(state) + 25 * next(blocks)
            last = end + LOOKAHEAD_TOKENS >= len(tokens)
            given = tokens[at:] if last else tokens[at : end + LOOKAHEAD_TOKENS]
            hop = flow.start(state, given, last=last)
            yield hop
            state, at = hop.state, end

    return each


@pytest.fixture(scope="session")
def say(hops_of):
    """``say(flow, state, tokens, blocks)``: the mel of a whole context, alone."""

    def said(flow, state, tokens, blocks=()):
        mel = []
        for hop in hops_of(flow, state, tokens, blocks):
            while not hop.done:
                flow.euler([hop])
            mel.append(hop.mel)
        return torch.cat(mel)

    return said


@pytest.fixture(scope="session")
def golden_case(golden, golden_sizes, golden_fill):
    """The golden model, prompt, tokens, and all golden tensors of the flow by their last names."""
    model = golden_fill(FlowV2(golden_sizes("cosyvoice2").flow))
    named = {
        key.split(".")[2]: value for key, value in golden.items() if key[:15] == "cosyvoice2.flow"
    }
    prompt = FlowPrompt(
        tokens=tuple(named["prompt_token"][0].tolist()),
        mel=named["prompt_feat"][0],
        embedding=named["embedding"][0],
    )
    return model, prompt, named["token"][0].tolist(), named
