"""A batch that fails as a whole is tried again in parts, so that whoever is to blame fails alone.

Knows: rows, errors. Does not know: what is computed; whatever it is leaves nothing half done when
it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import torch

from streaming.errors import DeviceFull

T = TypeVar("T")


class HasContext(Protocol):
    """A row."""

    @property
    def ctx(self) -> int:
        """Contexts are numbered in the order in which they came."""
        ...


R = TypeVar("R", bound=HasContext)


def together(
    rows: Sequence[R], compute: Callable[[Sequence[R]], Sequence[T | Exception]]
) -> list[T | Exception]:
    """A result for each row, or what it raised alone.

    Where the device's memory does not hold the batch, the newest context goes without.
    """
    try:
        return list(compute(rows))
    except torch.OutOfMemoryError as error:
        return _without_newest(rows, compute, error)
    except Exception as error:  # noqa: BLE001 - a network may raise anything; its row is told
        if len(rows) == 1:
            return [error]
    return [result for row in rows for result in together([row], compute)]


def _without_newest(
    rows: Sequence[R],
    compute: Callable[[Sequence[R]], Sequence[T | Exception]],
    error: torch.OutOfMemoryError,
) -> list[T | Exception]:
    torch.cuda.empty_cache()
    newest = max(rows, key=lambda row: row.ctx)
    others = [row for row in rows if row is not newest]
    made = iter(together(others, compute) if others else ())
    full = DeviceFull(f"the device's memory is full: {str(error).splitlines()[0]}")
    return [full if row is newest else next(made) for row in rows]
