"""Plain HTTP with an end to patience: a peer that takes nothing does not stay for ever.

Stock uvicorn waits without limit for a reader that has stalled, and what it is waiting to send
keeps the engine's work alive. A player that is paused stalls too, so the limit is a long one.

Knows: uvicorn's protocol class and one timer. Does not know: requests.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class PatientHttp(HttpToolsProtocol):
    """A connection that is dropped when its peer has taken nothing for ``stall_s``."""

    stall_s: ClassVar[float] = 300.0
    _stalled: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """The peer has stopped taking data."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.stall_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The peer takes data again."""
        super().resume_writing()
        self._forget_stall()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        self._forget_stall()
        super().connection_lost(exc)

    def _forget_stall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


def patient_http(stall_s: float) -> type[PatientHttp]:
    """The protocol class with that limit; uvicorn makes its instances itself."""
    return type("PatientHttp", (PatientHttp,), {"stall_s": stall_s})
