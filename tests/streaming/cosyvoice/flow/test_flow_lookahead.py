"""The lookahead: runs of tokens equal the whole, given three tokens after and two before."""

from __future__ import annotations

import pytest
import torch

from streaming.cosyvoice.flow.lookahead import LENGTHS, Lookahead


@pytest.fixture(scope="module")
def lookahead():
    torch.manual_seed(3)
    return Lookahead(8, 12).requires_grad_(requires_grad=False)


@pytest.mark.parametrize("cuts", [(25,), (5, 30), (2, 4, 6, 37)])
def test_runs_equal_the_whole(lookahead, cuts):
    tokens = torch.randn(1, 40, 8)
    whole = lookahead(tokens, before=0, after=0)
    found = []
    for start, end in zip((0, *cuts), (*cuts, 40), strict=True):
        before, after = min(start, 2), 0 if end == 40 else 3
        run = tokens[:, start - before : end + after]
        found.append(lookahead(run, before=before, after=after))
    assert torch.allclose(torch.cat(found, dim=1), whole, atol=1e-6)


def test_a_token_knows_the_three_after_it_and_no_more(lookahead):
    tokens = torch.randn(1, 20, 8)
    changed = tokens.clone()
    changed[:, 10] += 1
    differs = (lookahead(changed, before=0, after=0) != lookahead(tokens, before=0, after=0)).any(
        -1
    )
    assert differs[0].nonzero().flatten().tolist() == list(range(7, 13))


@pytest.mark.parametrize(("before", "after"), [(0, 3), (2, 3), (2, 0), (0, 0)])
@pytest.mark.parametrize("run", [1, 8, 25, 33])
def test_filled_up_it_says_the_same_of_its_tokens(monkeypatch, before, after, run):
    torch.manual_seed(1)
    layer = Lookahead(6, 10)
    tokens = torch.randn(1, before + run + after, 6)
    plain = layer(tokens, before=before, after=after)
    lengths = []
    layer.conv1.register_forward_hook(lambda _layer, _given, made: lengths.append(made.shape[2]))
    monkeypatch.setitem(LENGTHS, "cpu", 32)
    torch.testing.assert_close(layer(tokens, before=before, after=after), plain)
    assert lengths == [32 if before + run <= 32 else 64]
