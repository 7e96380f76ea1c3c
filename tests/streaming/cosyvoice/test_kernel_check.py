"""Kernels of attention in place are tried before they are used."""

from types import SimpleNamespace

import plain_kernels
import pytest
import torch

from streaming.cosyvoice.kernel_check import NEAR, failure

CPU = torch.device("cpu")


@pytest.mark.parametrize("dtype", NEAR, ids=str)
def test_those_that_are_right_do_not_fail(dtype):
    assert failure(plain_kernels, CPU, dtype) is None


def off_by_a_key(query, keys, values, tiles):
    tiles = SimpleNamespace(**{**vars(tiles), "lengths": tiles.lengths - 1})
    return plain_kernels.attend(query, keys, values, tiles)


def unturned(qkv, _turn, shelf, begins):
    plain_kernels.keep(qkv, None, shelf, begins)


def nothing_kept(*_):
    pass


@pytest.mark.parametrize(
    "wrong",
    [
        {"attend": off_by_a_key},
        {"attend": lambda query, *_: (query * torch.nan).transpose(2, 3)},
        {"keep": unturned},
        {"keep": nothing_kept},
    ],
    ids=["a key less", "no numbers", "unturned", "nothing kept"],
)
@pytest.mark.parametrize("dtype", NEAR, ids=str)
def test_those_that_compute_something_else_are_told(wrong, dtype):
    kernels = SimpleNamespace(attend=plain_kernels.attend, keep=plain_kernels.keep)
    assert "compute something else here" in failure(
        SimpleNamespace(**{**vars(kernels), **wrong}), CPU, dtype
    )


def test_those_that_cannot_run_are_told_with_the_reason():
    def uncompiled(*_):
        raise RuntimeError("no compiler for this card\nand more")

    kernels = SimpleNamespace(attend=plain_kernels.attend, keep=uncompiled)
    why = failure(kernels, CPU, torch.float32)
    assert why == "its kernels fail here: RuntimeError: no compiler for this card"
