"""uvicorn, with the application in charge of how it ends.

Stock uvicorn answers SIGTERM by closing every WebSocket with 1012 before the application hears of
it (measured on 0.54). Here the application drains first, while health checks are still answered;
then uvicorn shuts down what is left.

Knows: uvicorn's server and configuration. Does not know: sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket

import structlog
import uvicorn

from server.app import App
from server.patience import patient_http
from server.settings import Settings
from server.transport import Wire
from streaming.errors import CosystreamError

log = structlog.get_logger(__name__)

PING_INTERVAL_S = 20.0
PING_TIMEOUT_S = 20.0
HTTP_GRACE_S = 5


class DrainingServer(uvicorn.Server):
    """Drains the application before anything is closed; a second signal cuts that short."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app
        self._signals = 0
        self._announcing: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: object) -> None:
        """Count signals: the second one ends the drain."""
        self._signals += 1
        super().handle_exit(sig, frame)  # type: ignore[arg-type]
        # uvicorn raises these again when it is done; a drain that was asked for is no failure.
        self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say when speech would begin at once: until then requests are refused."""
        await super().startup(sockets)
        if self.started:
            self._announcing = asyncio.create_task(self._announce())

    async def _announce(self) -> None:
        try:
            voice = await self._app.wait_ready()
        except CosystreamError as error:
            log.error("not_ready", why=error.message)  # noqa: TRY400 - for people, no traceback
            return
        address = self.servers[0].sockets[0].getsockname()
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        shown = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104 - to show
        log.info("ready", page=f"http://{shown}:{address[1]}/", voice=voice)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, then shut down as uvicorn does."""
        log.info("stopping", drain_s=self._app.settings.drain_s)
        if self._announcing is not None:
            self._announcing.cancel()
        drain = asyncio.create_task(self._app.drain())
        while not drain.done() and self._signals < 2:  # noqa: PLR2004 - the second signal
            await asyncio.wait({drain}, timeout=0.1)
        drain.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await drain
        await super().shutdown(sockets)
        log.info("stopped")


def build(settings: Settings) -> DrainingServer:
    """The server for these settings; ``run`` or ``serve`` it."""
    app = App(settings)
    listen = settings.listen
    config = uvicorn.Config(
        app,
        host=listen.host,
        port=listen.port,
        root_path=listen.root_path,
        backlog=listen.backlog,
        http=patient_http(settings.limits.idle_s),
        ws=Wire,
        ws_max_size=settings.limits.message_bytes,
        ws_ping_interval=PING_INTERVAL_S,
        ws_ping_timeout=PING_TIMEOUT_S,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=HTTP_GRACE_S,
        server_header=False,
    )
    return DrainingServer(config, app)
