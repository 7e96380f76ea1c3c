"""How a prompt is cut, and where hops end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.cosyvoice.flow import cut


@given(st.integers(0, 750), st.none() | st.floats(0.2, 30), st.integers(1, 25))
def test_a_cut_prompt_leaves_the_first_hop_asked_for_or_is_too_short_for_it(tokens, cap_s, hop):
    used = cut.prompt_tokens(tokens, prompt_s=cap_s, first_hop_tokens=hop)
    most = tokens if cap_s is None else min(tokens, int(cap_s * 25))
    assert 0 <= used <= most
    assert most - used < 25
    begun = 25 - min(hop, 22)
    if most >= begun:
        assert cut.to_block_end(used) == min(hop, 22)
    else:
        assert used == most


@given(st.integers(0, 750), st.integers(1, 25))
def test_a_cut_prompts_blocks_need_no_token_to_come(tokens, hop):
    used = cut.prompt_tokens(tokens, first_hop_tokens=hop)
    assert cut.whole_blocks(used) == used // 25


@pytest.mark.parametrize(
    ("tokens", "options", "used"),
    [
        (90, {}, 90),
        (90, {"prompt_s": 3.0}, 75),
        (90, {"prompt_s": 3.0, "first_hop_tokens": 8}, 67),
        (67, {"first_hop_tokens": 8}, 67),
        (66, {"first_hop_tokens": 8}, 42),
        (16, {"first_hop_tokens": 8}, 16),
        (90, {"first_hop_tokens": 25}, 78),
    ],
)
def test_examples(tokens, options, used):
    assert cut.prompt_tokens(tokens, **options) == used


@pytest.mark.parametrize(("tokens", "blocks"), [(0, 0), (25, 0), (27, 0), (28, 1), (53, 2)])
def test_a_block_is_whole_when_its_lookahead_is_there(tokens, blocks):
    assert cut.whole_blocks(tokens) == blocks


@pytest.mark.parametrize(("position", "left"), [(0, 25), (1, 24), (24, 1), (25, 25), (67, 8)])
def test_from_any_token_to_the_end_of_its_block(position, left):
    assert cut.to_block_end(position) == left
