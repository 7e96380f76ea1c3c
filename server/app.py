"""The composition root: every part is made here, handed to those that use it, and ended here.

Knows: which parts there are. Does not know: what any of them does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from starlette.applications import Starlette
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from server.access import Access
from server.connection import Connection
from server.encoding import EncoderPool
from server.http import Api
from server.metrics import Metrics
from server.pages import mounts
from server.ring import RingBudget
from server.services import Services
from server.sessions import Sessions
from server.settings import Settings
from streaming.clock import LoopClock
from streaming.engine.client import EngineClient

log = structlog.get_logger(__name__)


class App:
    """The ASGI application and what lives as long as it does."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sessions: Sessions | None = None
        self._starlette: Starlette | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI; the parts are made when the lifespan begins, inside the event loop."""
        if scope["type"] == "lifespan":
            self._starlette = Starlette(lifespan=self._lifespan)
        assert self._starlette is not None
        await self._starlette(scope, receive, send)

    async def drain(self) -> None:
        """Finish what was begun, take nothing new."""
        if self.sessions is not None:
            await self.sessions.drain(self.settings.drain_s)

    async def wait_ready(self) -> str:
        """The default voice, once speech would begin at once.

        Raises:
            EngineLoading, Internal: it does not come; the message says why.
        """
        assert self.sessions is not None, "the application has started"
        engine = self.sessions.services.engine
        await engine.wait_ready(self.settings.engine.load_timeout_s)
        assert engine.info is not None, "it has said so"
        return engine.info.default_voice

    @asynccontextmanager
    async def _lifespan(self, starlette: Starlette) -> AsyncIterator[None]:
        clock = LoopClock()
        engine = EngineClient(self.settings.engine, clock)
        pool = EncoderPool(self.settings.audio.encoder_threads)
        services = Services(
            engine=engine,
            pool=pool,
            clock=clock,
            metrics=Metrics(),
            settings=self.settings,
            budget=RingBudget(self.settings.limits.resume_total_bytes),
            access=Access(self.settings.access, self.settings.limits, clock),
        )
        self.sessions = Sessions(services)
        starlette.router.routes.extend(_routes(self.sessions))
        _watch(services, self.sessions)
        try:
            await engine.start()
            yield
        finally:
            await engine.close()
            pool.close()


def _routes(sessions: Sessions) -> list[BaseRoute]:
    async def stream(websocket: WebSocket) -> None:
        await Connection(websocket, sessions).serve()

    routes: list[BaseRoute] = [
        WebSocketRoute("/v1/stream", stream),
        *Api(sessions).routes(),
        *mounts(),
    ]
    return routes


def _watch(services: Services, sessions: Sessions) -> None:
    """Gauges are asked for when they are read."""
    metrics, engine = services.metrics, services.engine
    metrics.sessions.set_function(lambda: len(sessions) - sessions.parked)
    metrics.parked_sessions.set_function(lambda: sessions.parked)
    metrics.contexts.set_function(lambda: sessions.contexts)
    metrics.encoder_queue.set_function(lambda: services.pool.waiting)
    metrics.resume_bytes.set_function(lambda: services.budget.used_bytes)
    metrics.engine_ready.set_function(lambda: float(engine.ready))
