"""A batch that fails as a whole is tried again in parts, so that whoever is to blame fails alone.

Knows: rows, errors. Does not know: what is computed; whatever it is leaves nothing half done when
it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import torch

from streaming.cosyvoice.capture import give_back
from streaming.errors import DeviceFull
from streaming.runners.cosyvoice.lost import lost

T = TypeVar("T")

_SIGNS = ("out of memory", "allocate memory", "not enough memory", "ALLOC_FAILED")
"""Of a full device or host, in what torch says: not all of it has a class of its own."""


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

    Where memory does not hold the batch, the device's or the host's, the newest context goes
    without. Raises what a device that is lost has raised: nobody is to blame for that.
    """
    full: DeviceFull | None = None
    try:
        return list(compute(rows))
    except Exception as error:  # a network may raise anything; its row is told
        if out_of_memory(error):
            said = str(error).splitlines() or [repr(error)]
            full = DeviceFull(f"memory is full: {said[0]}")
        elif lost(error):
            raise
        elif len(rows) == 1:
            return [error]
    # Only here the error is gone, and with it what the step had made before it was raised.
    if full is not None:
        return _without_newest(rows, compute, full)
    return [result for row in rows for result in together([row], compute)]


def out_of_memory(error: Exception) -> bool:
    """Whether it was raised for want of memory."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in _SIGNS)


def _without_newest(
    rows: Sequence[R],
    compute: Callable[[Sequence[R]], Sequence[T | Exception]],
    full: DeviceFull,
) -> list[T | Exception]:
    give_back()
    newest = max(rows, key=lambda row: row.ctx)
    others = [row for row in rows if row is not newest]
    made = iter(together(others, compute) if others else ())
    return [full if row is newest else next(made) for row in rows]
