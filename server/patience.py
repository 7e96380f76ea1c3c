"""Plain HTTP with an end to patience: a peer that takes nothing does not stay for ever.

Stock uvicorn waits without limit for a reader that has stalled, and what it is waiting to send
keeps the engine's work alive. A player that is paused stalls too, so the limit is a long one. Nor
does it bound how long a request may be on its way.

Knows: uvicorn's protocol class and one timer. Does not know: requests.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class PatientHttp(HttpToolsProtocol):
    """Dropped when its peer takes nothing, or has not asked to the end, for ``stall_s``."""

    stall_s: ClassVar[float] = 300.0
    _stalled: asyncio.TimerHandle | None = None
    _asking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there; a request should follow."""
        super().connection_made(transport)
        self._await_request()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._await_request()

    def on_message_complete(self) -> None:
        """It has come whole."""
        super().on_message_complete()
        self._forget_request()

    def handle_websocket_upgrade(self) -> None:
        """The connection is a WebSocket's from now on."""
        self._forget_request()
        super().handle_websocket_upgrade()

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
        self._forget_request()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        self._forget_request()
        self._asking = self.loop.call_later(self.stall_s, self.transport.abort)

    def _forget_request(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _forget_stall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


def patient_http(stall_s: float) -> type[PatientHttp]:
    """The protocol class with that limit; uvicorn makes its instances itself."""
    return type("PatientHttp", (PatientHttp,), {"stall_s": stall_s})
