"""Contexts that wait on the host: they come back as they were, and nothing is lost or kept."""

from __future__ import annotations

import random

import pytest
import torch

from streaming.cosyvoice.flow.host import HostMemory, OutOfHostMemory
from streaming.cosyvoice.flow.pool import OutOfPages
from streaming.cosyvoice.sizes import LOOKAHEAD_TOKENS

ROOM = 1 << 26


@pytest.fixture
def flow(make_flow):
    return make_flow(host_bytes=ROOM)


@pytest.fixture
def said(flow, make_prompt, make_tokens, speak):
    """A voice, what it is to say, and how that sounds when it is never sent away."""
    voice, tokens = flow.voice(make_prompt(67)), make_tokens(150)
    return voice, tokens, speak(flow, voice, tokens)[0]


def spoil(pool):
    """Whatever lies in pages that nobody holds is no number now."""
    for page in pool.take(pool.free):
        for part in pool.slices(page.index):
            part.fill_(torch.nan)


def used(flow):
    return flow.pool.pages - flow.pool.free


def hop(flow, finish, state, tokens):
    left, least = tokens[state.tokens_done :], flow.next_hop(state)
    last = len(left) < least + LOOKAHEAD_TOKENS
    return finish(
        flow, flow.start(state, left if last else left[: least + LOOKAHEAD_TOKENS], last=last)
    )


def begun(flow, finish, voice, tokens, hops=2):
    state = flow.begin(voice)
    for _ in range(hops):
        state = hop(flow, finish, state, tokens).state
    return state


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("window_s", [None, 2.0], ids=["exact", "window"])
def test_one_that_goes_and_comes_at_any_block_end_says_the_same_to_the_bit(
    flow, make_prompt, make_tokens, speak, finish, seed, window_s
):
    voice, tokens = flow.voice(make_prompt(67)), make_tokens(150, seed)
    expected = speak(flow, voice, tokens, window_s=window_s)[0]
    dice, mels, hoard = random.Random(seed), [], []
    state = flow.begin(voice, window_s=window_s)
    while not state.ended:
        if dice.random() < 0.6:
            blocks = [kept.block for kept in state.kept]
            state = flow.to_host(state)
            spoil(flow.pool)
            hoard = [flow.pool.take(1) for _ in range(dice.randrange(4))]
            state = flow.to_device(state)
            assert [kept.block for kept in state.kept] == blocks
        made = hop(flow, finish, state, tokens)
        state = made.state
        mels.append(made.mel)
    assert torch.equal(torch.cat(mels), expected)
    del hoard, made
    assert (used(flow), flow.host.used_bytes) == (len(voice.kept), 0)


def test_its_pages_are_free_while_it_is_away_and_all_is_counted(flow, said, finish):
    voice, tokens, _ = said
    state = begun(flow, finish, voice, tokens)
    assert used(flow) == len(voice.kept) + 2
    state = flow.to_host(state)
    assert (used(flow), state.bytes) == (len(voice.kept), 0)
    assert flow.host.used_bytes == state.on_host.bytes == 2 * flow.pool.page_bytes
    state = flow.to_device(state)
    assert (used(flow), state.bytes) == (len(voice.kept) + 2, 2 * flow.pool.page_bytes)
    assert flow.host.used_bytes == 0


def test_one_that_is_cancelled_on_the_host_leaves_nothing(flow, said, finish):
    voice, tokens, _ = said
    state = flow.to_host(begun(flow, finish, voice, tokens))
    assert flow.host.used_bytes > 0
    del state
    assert (used(flow), flow.host.used_bytes) == (len(voice.kept), 0)


def test_pages_that_another_value_still_names_stay_on_the_device_too(flow, said, finish):
    voice, tokens, _ = said
    state = begun(flow, finish, voice, tokens)
    away = flow.to_host(state)
    assert used(flow) == len(voice.kept) + 2
    spoil(flow.pool)
    one = hop(flow, finish, state, tokens).mel
    assert torch.equal(one, hop(flow, finish, flow.to_device(away), tokens).mel)


def test_away_it_takes_no_hop(flow, said, finish):
    voice, tokens, _ = said
    away = flow.to_host(begun(flow, finish, voice, tokens))
    with pytest.raises(ValueError, match="take them to the device first"):
        hop(flow, finish, away, tokens)


def test_without_pages_of_its_own_there_is_nothing_to_move(flow, said):
    voice, _, _ = said
    state = flow.begin(voice)
    assert flow.to_host(state) is state
    assert flow.to_device(state) is state


def test_where_the_host_is_full_it_stays_as_it_is(make_flow, make_prompt, make_tokens, finish):
    flow = make_flow()
    flow.host = HostMemory(flow.pool, 3 * flow.pool.page_bytes)
    voice, tokens = flow.voice(make_prompt(67)), make_tokens(150)
    states = [begun(flow, finish, voice, tokens) for _ in range(2)]
    away = flow.to_host(states[0])
    with pytest.raises(OutOfHostMemory, match="are used"):
        flow.to_host(states[1])
    assert flow.host.used_bytes == 2 * flow.pool.page_bytes
    del away
    assert flow.to_host(states[1]).on_host is not None


def test_where_the_device_is_full_it_stays_on_the_host(flow, said, finish):
    voice, tokens, _ = said
    away = flow.to_host(begun(flow, finish, voice, tokens))
    hoard = flow.pool.take(flow.pool.free - 1)
    with pytest.raises(OutOfPages):
        flow.to_device(away)
    assert flow.pool.free == 1
    del hoard
    assert flow.to_device(away).on_host is None


def test_not_a_byte_is_taken_where_none_is_allowed(make_flow, make_prompt, make_tokens, finish):
    flow = make_flow()
    assert not flow.host.allowed
    state = begun(flow, finish, flow.voice(make_prompt(67)), make_tokens(150))
    with pytest.raises(OutOfHostMemory):
        flow.to_host(state)


def test_pinned_memory_is_counted_as_it_is_taken(flow):
    flow.host._pinned = True
    assert [flow.host._taken_bytes(each) for each in (1, 4096, 4097)] == [1, 4096, 8192]


@pytest.mark.cuda
def test_on_a_gpu_copies_are_pinned_and_come_back(tiny, make_tokens, make_prompt, speak, finish):
    from streaming.cosyvoice.flow.stream import Flow  # noqa: PLC0415 - where there is a GPU
    from streaming.cosyvoice.flow.v3.network import NetworkV3  # noqa: PLC0415 - the same

    flow = Flow(NetworkV3(tiny, device=torch.device("cuda")), budget_bytes=1 << 26, host_bytes=ROOM)
    voice, tokens = flow.voice(make_prompt(67)), make_tokens(150)
    expected = speak(flow, voice, tokens)[0]
    state, mels = flow.begin(voice), []
    while not state.ended:
        state = flow.to_host(state)
        assert all(part.is_pinned() for part in _copies(state))
        spoil(flow.pool)
        made = hop(flow, finish, flow.to_device(state), tokens)
        state = made.state
        mels.append(made.mel)
    assert torch.equal(torch.cat(mels), expected)


def _copies(state):
    return () if state.on_host is None else state.on_host.away.copies
