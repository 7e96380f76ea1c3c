"""Relative positions: what a distance adds to an attention score.

Source: Transformer-XL (appendix B), with distances to both sides as ESPnet has them. Knows: where
queries and keys stand in the recording. Does not know: blocks, pages, what is hidden.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

GROWTH = 512
"""A table's first reach; then it doubles."""

LONGEST = 4096
"""A table's last reach: 80 s of frames. What is further away is projected each time."""


@dataclass(frozen=True)
class Span:
    """Keys that stand beside each other: ``first`` is a position from the start of the prompt."""

    first: int
    count: int


class Distances:
    """Projected encodings of distances, by layer: nothing but weights decides them.

    A table grows with the furthest distance asked for, so that hops do not project them again.
    """

    def __init__(self) -> None:
        self._tables: dict[nn.Linear, tuple[int, Tensor]] = {}

    def table(self, projection: nn.Linear, first: int, last: int) -> Tensor:
        """(first - last + 1, width): of the distances from ``first`` down to ``last``."""
        furthest = max(abs(first), abs(last))
        if furthest > LONGEST:
            return _projected(projection, first, last)
        reach, table = self._tables.get(projection, (-1, None))
        if table is None or furthest > reach:
            reach = min(max(furthest, 2 * reach, GROWTH), LONGEST)
            table = _projected(projection, reach, -reach)
            self._tables[projection] = (reach, table)
        return table[reach - first : reach - last + 1]


def _projected(projection: nn.Linear, first: int, last: int) -> Tensor:
    projected: Tensor = projection(encoded(first, last, projection.weight))
    return projected


def encoded(first: int, last: int, like: Tensor) -> Tensor:
    """(first - last + 1, width): sinusoids of the distances from ``first`` down to ``last``."""
    width = like.shape[1]
    distances = torch.arange(first, last - 1, -1, device=like.device, dtype=torch.float32)
    rates = torch.exp(torch.arange(0, width, 2, device=like.device) * -(math.log(10_000) / width))
    angles = distances[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).to(like)


def biases(
    query: Tensor, start: int, spans: Sequence[Span], projection: nn.Linear, distances: Distances
) -> Tensor:
    """(heads, T, head_dim) from position ``start`` on to (heads, T, keys), not yet scaled."""
    heads, run, _ = query.shape
    found = []
    for span in spans:
        first = start + run - 1 - span.first
        table = distances.table(projection, first, first - run - span.count + 2)
        scores = query @ table.view(len(table), heads, -1).permute(1, 2, 0)
        # Query i and key j are first - (run - 1 - i + j) apart: each query's row begins one
        # further left than that of the query before it.
        across = run + span.count - 1
        found.append(
            scores.contiguous().as_strided(
                (heads, run, span.count), (run * across, across - 1, 1), run - 1
            )
        )
    return torch.cat(found, dim=-1)


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    """(heads, T, head_dim), over (heads, keys, head_dim); ``bias`` is added as it is."""
    return F.scaled_dot_product_attention(query[None], key[None], value[None], bias)[0]
