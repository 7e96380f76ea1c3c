"""What a run of tokens sees of the blocks before it, in the Conformer."""

from __future__ import annotations

import pytest
import torch

from streaming.cosyvoice.flow.base import Piece
from streaming.cosyvoice.flow.mask import block_mask
from streaming.cosyvoice.flow.v2.memory import Blocks
from streaming.cosyvoice.flow.v2.relative import Span

LENGTH, HEADS, HEAD_DIM, LAYERS = 4, 2, 3, 2


def make_piece(run, block, past_blocks, **window):
    """Of blocks of 4; block n lies in page 10 + n."""
    blocks = -(-run // LENGTH)
    return Piece(
        tokens=torch.zeros(run, dtype=torch.int64),
        before=0,
        after=0,
        block=block,
        pages=tuple(range(10 + block, 10 + block + blocks)),
        past=tuple(10 + past for past in past_blocks),
        past_blocks=tuple(past_blocks),
        **window,
    )


@pytest.fixture
def shelf():
    return torch.zeros(LAYERS, 2, HEADS, 20, LENGTH, HEAD_DIM)


def test_blocks_beside_each_other_are_one_span(shelf):
    blocks = Blocks(make_piece(6, 2, [0, 1]), 6, LENGTH, shelf)
    assert list(blocks.spans) == [Span(0, 14)]
    assert blocks.start == 8


def test_a_window_leaves_a_hole_between_spans(shelf):
    piece = make_piece(4, 6, [0, 1, 5], window_blocks=1, prompt_blocks=2)
    assert list(Blocks(piece, 4, LENGTH, shelf).spans) == [Span(0, 8), Span(20, 8)]


def test_a_run_of_one_block_sees_all_that_is_kept(shelf):
    assert Blocks(make_piece(3, 2, [0, 1]), 3, LENGTH, shelf).hidden is None


@pytest.mark.parametrize("window", [{}, {"window_blocks": 1, "prompt_blocks": 1}])
def test_a_run_of_several_blocks_hides_what_the_mask_of_the_whole_does(shelf, window):
    blocks = Blocks(make_piece(10, 2, [0, 1], **window), 10, LENGTH, shelf)
    whole = block_mask(18, *window.values(), block_frames=LENGTH)
    assert torch.equal(blocks.hidden, ~whole[8:])


def test_a_later_run_sees_keys_and_values_of_the_whole_blocks_before(shelf):
    key, value = torch.randn(2, HEADS, 10, HEAD_DIM)
    Blocks(make_piece(8, 0, []), 8, LENGTH, shelf).join(1, key[:, :8], value[:, :8])
    later = Blocks(make_piece(2, 2, [0, 1]), 2, LENGTH, shelf)
    joined = later.join(1, key[:, 8:], value[:, 8:])
    assert torch.equal(joined[0], key)
    assert torch.equal(joined[1], value)
    assert not shelf[0].any()


def test_a_short_block_is_seen_by_its_own_run_and_kept_nowhere(shelf):
    key, value = torch.randn(2, HEADS, 3, HEAD_DIM)
    joined = Blocks(make_piece(3, 0, []), 3, LENGTH, shelf).join(0, key, value)
    assert torch.equal(joined[0], key)
    assert not shelf.any()
