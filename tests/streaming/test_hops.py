"""Hop sizes: small while the listener waits, large when there is time, always to a block's end."""

from hypothesis import given
from hypothesis import strategies as st

from streaming.costs import Costs
from streaming.hops import (
    LARGEST_TOKENS,
    Rhythm,
    hop_tokens,
)
from streaming.steps import Cost, Following

RHYTHM = Rhythm(
    block_tokens=25,
    lookahead_tokens=3,
    held_back_tokens=4.0,
    frames_per_token=2,
    euler_steps=10,
)


def costs(llm_s=0.005, frame_s=0.00001):
    return Costs({"llm": Cost(llm_s, 0.0), "flow": Cost(0.002, frame_s), "vocoder": Cost(0.005, 0)})


def hop(available, slack_s, *, block_rest=25, **prices):
    return hop_tokens(
        RHYTHM, costs(**prices), block_rest=block_rest, available=available, slack_s=slack_s
    )


def test_a_hop_waits_for_its_block_and_its_lookahead():
    assert hop(27, 0.0) == 0
    assert hop(28, 0.0) == 25


def test_with_no_time_to_lose_it_is_the_smallest_there_is():
    assert hop(90, 0.0) == 25
    assert hop(90, 0.0, block_rest=8) == 8


def test_with_time_it_takes_all_whole_blocks_that_are_there():
    assert hop(90, 5.0) == 75
    assert hop(90, 5.0, block_rest=8) == 83
    assert hop(300, 60.0) == LARGEST_TOKENS


def test_it_takes_no_more_than_can_be_there_in_time():
    assert hop(90, 0.1, frame_s=0.0001) == 25
    assert hop(90, 0.2, frame_s=0.0001) == 50


def test_what_follows_a_token_and_a_step_is_told_in_steps():
    assert RHYTHM.path(3, 25) == (
        Following("llm", 1.0, 3),
        Following("flow", 50.0, 10),
        Following("vocoder", 50.0, 1),
    )
    assert RHYTHM.render(25) == RHYTHM.path(3, 25)[1:]
    assert RHYTHM.finish(50.0, 50.0, 0) == RHYTHM.path(3, 25)[2:]


def test_the_flow_computes_whole_blocks_whatever_is_in_them():
    assert [RHYTHM.whole(tokens) for tokens in (1, 8, 25, 26)] == [50.0, 50.0, 50.0, 100.0]
    assert RHYTHM.render(8) == (Following("flow", 50.0, 10), Following("vocoder", 16.0, 1))


@given(st.integers(1, 25), st.integers(0, 300), st.floats(-1, 10))
def test_every_hop_ends_where_a_block_does_and_can_look_ahead(rest, available, slack_s):
    tokens = hop(available, slack_s, block_rest=rest)
    if tokens:
        assert (tokens - rest) % 25 == 0
        assert rest <= tokens <= max(rest, LARGEST_TOKENS)
        assert tokens + 3 <= available
    else:
        assert available < rest + 3
