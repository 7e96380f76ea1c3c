"""Runs as rows of one batch, and the few shapes a batch may be filled up to."""

from __future__ import annotations

import pytest
import torch

from streaming.cosyvoice.flow.base import SCRAP_PAGE, ZERO_PAGE
from streaming.cosyvoice.flow.batch import Shapes, batched

CPU = torch.device("cpu")


@pytest.fixture
def hops(flow, make_prompt, make_tokens):
    """One of two blocks at its beginning, one of one block and 3 frames four steps further."""
    voice = flow.voice(make_prompt(67))
    ahead = flow.start(flow.begin(voice), make_tokens(11), last=True)
    for _ in range(4):
        flow.euler([ahead])
    return flow.start(flow.begin(voice), make_tokens(36), last=False), ahead


def test_every_block_is_a_row_at_its_own_step(hops):
    rows = batched([hop.run for hop in hops], Shapes(), CPU)
    assert rows.x.shape == (4, 50, 80)
    assert rows.step.tolist() == [0, 0, 4, 4]
    assert rows.position.tolist() == [100, 150, 100, 150]
    assert rows.keys.tolist() == [150, 200, 150, 156]
    assert [row.frames for row in rows.host] == [50, 50, 50, 6]


def test_tables_name_the_voices_pages_then_the_contexts_own(hops):
    rows = batched([hop.run for hop in hops], Shapes(), CPU)
    voice = [kept.page.index for kept in hops[0].after.voice.kept]
    assert rows.table[:, :2].tolist() == [voice] * 4
    for row in (0, 2):
        assert rows.table[row].tolist() == [*voice, rows.page[row].item(), ZERO_PAGE]
        assert rows.table[row + 1, 2:].tolist() == [rows.page[row], rows.page[row + 1]]
        assert rows.before[row].item() == voice[1]
        assert rows.before[row + 1] == rows.page[row]


def test_the_hosts_numbers_are_the_devices(hops):
    rows = batched([hop.run for hop in hops], Shapes(rows=(6,), pages=(8,)), CPU)
    assert rows.table.shape == (6, 8)
    for at, row in enumerate(rows.host):
        assert (row.step, row.page, row.before) == (rows.step[at], rows.page[at], rows.before[at])
        assert (row.keys, row.position) == (rows.keys[at], rows.position[at])
        assert rows.table[at, : len(row.table)].tolist() == list(row.table)
        assert not rows.table[at, len(row.table) :].any()


def test_filling_rows_write_where_nobody_reads(hops):
    rows = batched([hop.run for hop in hops], Shapes(rows=(6,)), CPU)
    assert rows.page[4:].tolist() == [SCRAP_PAGE] * 2
    assert not rows.x[4:].any()
    assert not (rows.table[:4] == SCRAP_PAGE).any()


def test_a_shape_is_the_least_that_holds_a_batch():
    shapes = Shapes(rows=(1, 4, 16), pages=(8, 32))
    assert shapes.of(1, 1) == (1, 8)
    assert shapes.of(5, 9) == (16, 32)
    assert shapes.of(17, 33) == (20, 40)  # multiples of a quarter of the largest
    assert Shapes().of(3, 7) == (3, 7)


def test_filled_batches_come_to_the_same(make_flow, make_prompt, make_tokens, speak):
    met = []

    def noting(advance):
        def noted(rows):
            met.append(tuple(rows.table.shape))
            return advance(rows)

        return noted

    filled = make_flow(shapes=Shapes(rows=(4,), pages=(4, 8)), wrap=noting)
    plain = make_flow()
    said = [
        speak(flow, flow.voice(make_prompt(67)), make_tokens(90))[0] for flow in (filled, plain)
    ]
    assert (said[0] - said[1]).abs().max() < 1e-5
    assert set(met) == {(4, 4), (4, 8)}
