"""Attention over pages: the same in every way, as over one long tensor."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from plain_kernels import in_place
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.flow import attention
from streaming.cosyvoice.flow.attention import Gathered, Views, spans
from streaming.cosyvoice.flow.base import HostRow, Rows
from streaming.cosyvoice.flow.rotary import turned

STEPS, HEADS, PAGES, HEAD_DIM = 3, 4, 9, 8


def make_rows(*host):
    width = max(len(row.table) for row in host)
    tables = [[*row.table, *[0] * (width - len(row.table))] for row in host]
    column = {
        name: torch.tensor([getattr(row, name) for row in host])
        for name in ("step", "page", "before", "keys", "position")
    }
    nothing = torch.empty(0)
    return Rows(x=nothing, given=nothing, table=torch.tensor(tables), host=host, **column)


def host_row(step, table, keys):
    return HostRow(step, table[-1], 0, tuple(table), keys, 0, keys - 50 * (len(table) - 1))


ROWS = make_rows(host_row(0, [3, 4, 5], 150), host_row(2, [4, 2, 7], 120), host_row(1, [6], 50))
WAYS = pytest.mark.parametrize(
    "way", [Views, Gathered, in_place], ids=["views", "gathered", "in place"]
)


@WAYS
@pytest.mark.parametrize("turn", [None, torch.rand(2, 3, 50, HEAD_DIM // 2)], ids=["", "turned"])
def test_it_equals_attention_over_one_long_tensor(way, turn):
    kept, qkv = shelf(), some_qkv()
    query, *pair = by_head(qkv, turn)
    seen = way(ROWS, kept)(kept, qkv, turn)
    for at, row in enumerate(ROWS.host):
        assert torch.equal(kept[:, row.step, :, row.page], torch.stack([part[at] for part in pair]))
        long = kept[:, row.step][:, :, list(row.table)].flatten(2, 3)[:, :, : row.keys]
        expected = F.scaled_dot_product_attention(query[at], long[0], long[1])
        assert torch.allclose(seen[at].transpose(1, 2).flatten(0, 1), expected, atol=1e-6)


def by_head(qkv, turn):
    """Queries, keys, values, each (B, G, 50, head_dim): the first head of each row turned."""
    qkv = qkv.clone()
    if turn is not None:
        qkv[..., :2, 0, :] = turned(qkv[..., :2, 0, :], turn[:, :, None, :, None])
    return qkv.permute(3, 0, 1, 4, 2, 5).flatten(2, 3)


def test_a_gathering_too_large_takes_turns(monkeypatch):
    qkv = some_qkv()
    at_once = Gathered(ROWS, shelf())(shelf(), qkv)
    monkeypatch.setattr(attention, "COPY_BYTES", 1)
    assert torch.allclose(Gathered(ROWS, shelf())(shelf(), qkv), at_once, atol=1e-6)


@WAYS
def test_it_writes_nothing_but_its_rows_pages_at_their_steps(way):
    kept = shelf()
    before = kept.clone()
    way(ROWS, kept)(kept, some_qkv(), None)
    for row in ROWS.host:
        kept[:, row.step, :, row.page] = before[:, row.step, :, row.page]
    assert torch.equal(kept, before)


@pytest.mark.parametrize("way", [Gathered, in_place], ids=["gathered", "in place"])
def test_what_fills_a_table_up_is_not_seen(way):
    wider = replace(ROWS, table=F.pad(ROWS.table, (0, 3)))
    qkv = some_qkv()
    made = [way(rows, shelf())(shelf(), qkv.clone(), None) for rows in (ROWS, wider)]
    assert torch.allclose(*made, atol=1e-6)


def some_qkv():
    return torch.randn(
        3, 2, 50, 3, HEADS // 2, HEAD_DIM, generator=torch.Generator().manual_seed(6)
    )


def shelf():
    return torch.randn(
        (2, STEPS, HEADS, PAGES, 50, HEAD_DIM), generator=torch.Generator().manual_seed(5)
    )


@pytest.mark.parametrize(
    ("table", "keys", "found"),
    [
        ([4], 50, [(200, 50)]),
        ([4], 7, [(200, 7)]),
        ([4, 5, 6], 130, [(200, 130)]),
        ([2, 3, 8, 9], 151, [(100, 100), (400, 51)]),
        ([3, 2], 100, [(150, 50), (100, 50)]),
    ],
)
def test_neighbouring_pages_are_one_run(table, keys, found):
    assert spans(table, keys) == found
