"""Compiling what lies between the products: chains of small operations that become one.

Only functions of tensors that change none of them are compiled, each once for all shapes and
layers: products are the libraries' anyway, a whole network takes minutes, and the pages that a
step writes into must stay where they are. Knows: torch's compiler and how it fails. Does not
know: what is compiled, whether that was asked for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import torch
from torch import Tensor

Pure = Callable[..., Tensor]
"""Of tensors, and of what is always the same; it changes nothing."""

Compile = Callable[[Pure], Pure]

_log = logging.getLogger(__name__)


def as_it_is(function: Pure) -> Pure:
    """No compiling."""
    return function


class Compiled:
    """A function that is compiled when it is first called, or runs as it is where that fails."""

    def __init__(self, function: Pure, backend: str | Callable[..., object] = "inductor") -> None:
        self._plain = function
        self._compiled: Pure | None = torch.compile(
            function, dynamic=True, fullgraph=True, backend=backend
        )

    @property
    def works(self) -> bool:
        """Whether it has not failed."""
        return self._compiled is not None

    def __call__(self, *given: object) -> Tensor:
        """As the function; its last bits may differ."""
        if self._compiled is None:
            return self._plain(*given)
        try:
            return self._compiled(*given)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - compilers of three kinds may raise anything
            made = self._plain(*given)  # where this raises too, the compiler is not to blame
            _log.warning("%s is not compiled: %s", self._plain.__name__, _said(error))
            self._compiled = None
            return made


def _said(error: Exception) -> str:
    """The cause; torch puts its own words around it, in several lines."""
    lines = str(error.__cause__ or error).strip().splitlines()
    return " ".join(line.strip() for line in lines[:2]) or type(error).__name__
