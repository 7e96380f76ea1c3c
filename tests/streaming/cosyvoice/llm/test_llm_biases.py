"""Who may look where, and that torch's kernels can take it as it lies."""

import pytest
import torch

from streaming.cosyvoice.bias import BIAS_STEP
from streaming.cosyvoice.llm.attention import Chunk, chunk_bias, row_bias

CPU = torch.device("cpu")


@pytest.mark.parametrize("length", [16, 300])
def test_a_row_looks_as_far_as_its_own_position(length):
    bias = row_bias(torch.tensor([0, 5]), length, torch.float16)
    assert bias.shape == (2, 1, 1, length)
    assert bias.dtype is torch.float16
    seen = bias[:, 0, 0] == 0
    assert seen.sum(1).tolist() == [1, 6]
    assert bool(seen[1, :6].all())
    assert bool(bias[:, 0, 0][~seen].isneginf().all())


def test_a_chunk_is_causal_for_each_head_of_a_group():
    bias = chunk_bias(Chunk(slot=0, row=0, count=3, position=10), 2, CPU, torch.float32)
    assert bias.shape == (6, 13)
    assert (bias == 0).sum(1).tolist() == [11, 12, 13] * 2


def test_rows_of_a_bias_lie_where_kernels_ask_for_them():
    row = row_bias(torch.tensor([0, 5]), 301, torch.float16)
    chunk = chunk_bias(Chunk(slot=0, row=0, count=3, position=10), 2, CPU, torch.float16)
    for bias in (row, chunk):
        assert bias.stride(-1) == 1
        assert all(stride % BIAS_STEP == 0 for stride in bias.stride()[:-1])
