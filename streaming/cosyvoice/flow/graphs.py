"""Euler steps of a shape that comes again, captured once on CUDA and replayed.

Everything a step looks at is copied into tensors that stay where they are; the pool's pages are
where they always were. A shape that cannot be captured runs as it is from then on, and is told of.
Elsewhere than on CUDA every step runs as it is. Knows: shapes. Does not know: networks.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from streaming.cosyvoice.flow.base import Rows
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.stream import Advance

ROWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
PAGES = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
SHAPES = Shapes(rows=ROWS, pages=PAGES)
"""Few enough to capture, close enough to waste less than a third."""

_TENSORS = tuple(field.name for field in fields(Rows) if field.name != "host")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Captured:
    graph: torch.cuda.CUDAGraph
    rows: Rows
    x: Tensor


class Graphs:
    """A step that is replayed where it can be; call it as the step itself."""

    def __init__(self, advance: Advance) -> None:
        self._advance = advance
        self._captured: dict[tuple[int, ...], _Captured | None] = {}
        self._pool: Any = None

    def __call__(self, rows: Rows) -> Tensor:
        """``rows.x`` a step later."""
        if rows.x.device.type != "cuda":
            return self._advance(rows)
        key = (*rows.x.shape, *rows.given.shape, *rows.table.shape)
        if key not in self._captured:
            self._captured[key] = self._capture(rows)
        captured = self._captured[key]
        if captured is None:
            return self._advance(rows)
        for kept, new in zip(_tensors(captured.rows), _tensors(rows), strict=True):
            kept.copy_(new)
        captured.graph.replay()
        return captured.x.clone()

    def _capture(self, rows: Rows) -> _Captured | None:
        kept = replace(rows, **{name: getattr(rows, name).clone() for name in _TENSORS})
        try:
            self._advance(kept)  # libraries choose their kernels outside the capture
            torch.cuda.current_stream().synchronize()
            graph = torch.cuda.CUDAGraph()
            stream = torch.cuda.current_stream()
            self._pool = self._pool or torch.cuda.graph_pool_handle()
            with torch.cuda.graph(
                graph, pool=self._pool, stream=stream, capture_error_mode="thread_local"
            ):
                x = self._advance(kept)
        except RuntimeError as error:
            _log.warning("flow steps of shape %s are not captured: %s", rows.x.shape, error)
            return None
        return _Captured(graph, kept, x)


def _tensors(rows: Rows) -> Sequence[Tensor]:
    return [getattr(rows, name) for name in _TENSORS]
