"""Samples come to the host as they were, in their rows, and what is no number is found."""

import numpy as np
import pytest
import torch

from streaming.runners.cosyvoice.copies import Copies

CPU = torch.device("cpu")


def rows(*lengths, device=CPU, dtype=torch.float32):
    random = torch.Generator().manual_seed(3)
    return [torch.randn(length, generator=random).to(device, dtype) for length in lengths]


@pytest.mark.parametrize("streams", [1, 4])
@pytest.mark.parametrize("lengths", [(5,), (3, 0, 7), (0,), (0, 0)])
def test_rows_of_any_lengths_come_as_they_were(streams, lengths):
    given = rows(*lengths)
    fetched = Copies(CPU, streams).fetch(given)
    for at, row in enumerate(given):
        assert fetched.row(at).dtype == np.float32
        assert np.array_equal(fetched.row(at), row.numpy())
        assert fetched.good(at)


def test_half_precision_comes_as_float32():
    (given,) = rows(9, dtype=torch.bfloat16)
    assert np.array_equal(Copies(CPU, 4).fetch([given]).row(0), given.float().numpy())


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_row_with_a_sample_that_is_no_number_is_the_only_one_that_is_bad(bad):
    given = rows(4, 6, 2)
    given[1][5] = bad
    fetched = Copies(CPU, 4).fetch(given)
    assert [fetched.good(at) for at in range(3)] == [True, False, True]


def test_what_the_networks_make_without_gradients_can_be_used():
    with torch.inference_mode():
        given = rows(4)
    assert len(Copies(CPU, 4).fetch(given).row(0)) == 4


@pytest.mark.cuda
@pytest.mark.parametrize("streams", [1, 4])
def test_on_a_gpu_they_are_copied_once_they_are_computed(streams):
    device = torch.device("cuda", 0)
    copies, computing = Copies(device, streams), torch.cuda.Stream(device)
    with torch.cuda.stream(computing):
        slow = torch.randn(4096, 4096, device=device)
        for _ in range(50):
            slow = (slow @ slow).clamp(-1, 1)
        given = [slow[0], slow[1, :7]]
        fetched = copies.fetch(given)
    assert fetched._flat.is_pinned()
    for at, row in enumerate(given):
        assert np.array_equal(fetched.row(at), row.cpu().numpy())
        assert fetched.good(at)
