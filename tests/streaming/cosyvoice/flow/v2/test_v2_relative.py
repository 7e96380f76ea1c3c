"""What distances add to attention scores."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from streaming.cosyvoice.flow.v2.relative import LONGEST, Distances, Span, biases, encoded

HEADS, HEAD_DIM, RUN = 2, 4, 5
WIDTH = HEADS * HEAD_DIM


@pytest.fixture
def projection():
    torch.manual_seed(3)
    return nn.Linear(WIDTH, WIDTH, bias=False).requires_grad_(requires_grad=False)


def expected(query, start, positions, projection):
    """Score by score, as the definition has it."""
    scores = torch.empty(HEADS, RUN, len(positions))
    for i in range(RUN):
        for j, position in enumerate(positions):
            distance = start + i - position
            rates = [10_000 ** (-at / WIDTH) for at in range(0, WIDTH, 2)]
            encoding = [f(distance * rate) for rate in rates for f in (math.sin, math.cos)]
            apart = projection(torch.tensor(encoding)).view(HEADS, HEAD_DIM)
            scores[:, i, j] = (query[:, i] * apart).sum(-1)
    return scores


@pytest.mark.parametrize(
    ("start", "spans"),
    [
        (0, [Span(0, RUN)]),
        (20, [Span(0, 25)]),
        (20, [Span(0, 4), Span(10, 15)]),
        (700, [Span(0, 4), Span(690, 6), Span(699, 6)]),
        (LONGEST + 9, [Span(0, 4), Span(LONGEST + 8, 6)]),
    ],
)
def test_a_bias_is_the_query_times_the_encoded_distance(projection, start, spans):
    query = torch.randn(HEADS, RUN, HEAD_DIM)
    found = biases(query, start, spans, projection, Distances())
    positions = [span.first + at for span in spans for at in range(span.count)]
    assert torch.allclose(found, expected(query, start, positions, projection), atol=1e-4)


def test_a_table_is_projected_once_and_again_only_when_it_must_reach_further(projection):
    projected = []
    projection.register_forward_hook(lambda *_: projected.append(1))
    distances = Distances()
    near = distances.table(projection, 40, -40).clone()
    distances.table(projection, 500, 3)
    assert len(projected) == 1
    distances.table(projection, 600, 3)
    distances.table(projection, 1000, -1000)
    assert len(projected) == 2
    assert torch.allclose(distances.table(projection, 40, -40), near, atol=1e-6)


def test_what_is_very_far_away_makes_no_table_grow(projection):
    distances = Distances()
    near = distances.table(projection, 40, -40)
    far = distances.table(projection, LONGEST + 40, LONGEST + 1)
    assert len(far) == 40
    assert distances.table(projection, 40, -40).data_ptr() == near.data_ptr()


def test_tables_of_layers_are_their_own(projection):
    other = nn.Linear(WIDTH, WIDTH, bias=False)
    distances = Distances()
    assert not torch.equal(distances.table(projection, 9, 0), distances.table(other, 9, 0))


def test_distances_to_either_side_differ_in_the_sines_alone():
    table = encoded(3, -3, torch.empty(WIDTH, WIDTH))
    assert torch.equal(table[:, 1::2], table.flip(0)[:, 1::2])
    assert torch.equal(table[:, 0::2], -table.flip(0)[:, 0::2])
