"""The convolution as a product of matrices."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from streaming.cosyvoice.flow.v2.sliding import SlidingConv, product


@pytest.mark.parametrize("taps", [1, 3, 5])
def test_it_is_a_convolution_with_the_same_parameters(taps):
    plain, ours = nn.Conv1d(4, 6, taps), SlidingConv(4, 6, taps)
    ours.load_state_dict(plain.state_dict(), strict=True)
    x = torch.randn(2, 9, 4)
    padded = functional.pad(x, (0, 0, taps - 1, 0))
    expected = plain(padded.transpose(1, 2)).transpose(1, 2)
    assert torch.allclose(ours(padded), expected, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_its_weight_is_laid_out_for_the_product_even_when_cast(dtype):
    ours = SlidingConv(4, 6, 3)
    ours.load_state_dict(nn.Conv1d(4, 6, 3).state_dict(), strict=True)
    assert ours.to(dtype).weight.transpose(1, 2).is_contiguous()


def test_a_product_has_the_precision_of_its_weights():
    layer = nn.Linear(4, 6).to(torch.bfloat16)
    assert product(layer, torch.randn(2, 4)).dtype == torch.bfloat16
