"""Euler steps of a shape that comes again, captured once and replayed.

What a step looks at is copied to where it was captured; the pool's pages are where they always
were. A batch that fits no shape runs as it is. Knows: shapes. Does not know: networks, devices.
"""

from __future__ import annotations

from dataclasses import fields

from torch import Tensor

from streaming.cosyvoice.capture import Captured, Record, Tensors
from streaming.cosyvoice.flow.base import Rows
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.stream import Advance

ROWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
PAGES = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
SHAPES = Shapes(rows=ROWS, pages=PAGES)
"""Few enough to capture, close enough to waste less than a third."""

CLOSE_ROWS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, *range(80, 257, 16))
IN_PLACE_SHAPES = Shapes(rows=CLOSE_ROWS, pages=(12, 64))
"""Where pages that fill a table up cost nothing: far fewer, that waste less than a fifth."""

_TENSORS = tuple(field.name for field in fields(Rows) if field.name != "host")


class Graphs:
    """A step that is replayed where it can be; call it as the step itself."""

    def __init__(self, advance: Advance, record: Record, shapes: Shapes) -> None:
        self._advance = advance
        self._shapes = shapes
        self._captured = Captured("flow", self._step, record)

    def __call__(self, rows: Rows) -> Tensor:
        """``rows.x`` a step later."""
        count, pages = rows.table.shape
        if count not in self._shapes.rows or pages not in self._shapes.pages:
            return self._advance(rows)
        given = [getattr(rows, name) for name in _TENSORS]
        return self._captured((count, pages), given)[0]

    def _step(self, given: Tensors) -> Tensors:
        """Numbers of the host's would be those of the first batch for ever: it gets none."""
        return (self._advance(Rows(**dict(zip(_TENSORS, given, strict=True)), host=())),)
