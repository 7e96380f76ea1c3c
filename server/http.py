"""The HTTP routes beside the WebSocket: speech, voices, tokens, health, metrics.

Knows: paths, bodies, statuses (``docs/protocol.md`` section 11). Does not know: how speech is made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
import structlog
from msgspec import Meta
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from server import invalid
from server.access import Identity, origin_of
from server.bodies import read_body
from server.sessions import Sessions
from server.speak import CLIENT_LEFT, read_request, speak
from server.voices import VoicesApi
from streaming.errors import BadRequest, CosystreamError, Internal

log = structlog.get_logger(__name__)

Handler = Callable[[Request, Identity], Awaitable[Response]]


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /v1/tokens``."""

    ttl_s: Annotated[int, Meta(ge=1)] = 60
    origin: Annotated[str, Meta(max_length=512)] | None = None
    voices: list[str] | None = None
    max_characters: int | None = None


class Api:
    """Handlers over the server's services."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._services = sessions.services
        self._access = sessions.services.access
        self._voices = VoicesApi(sessions.services)
        self._restarts_told = 0

    def routes(self) -> list[Route]:
        """Every HTTP route that is not a file."""
        return [
            Route("/v1/speak", self._guarded(self._speak, costs=True), methods=_GET_POST),
            *self._voice_routes(),
            Route("/v1/tokens", self._guarded(self._mint, costs=True), methods=["POST", "OPTIONS"]),
            Route("/v1/stream", self._no_websocket),
            Route("/healthz", self._health),
            Route("/readyz", self._ready),
            Route("/metrics", self._metrics),
        ]

    def _voice_routes(self) -> list[Route]:
        voices = self._voices
        one, recording = "/v1/voices/{voice:path}", "/v1/voices/{voice:path}/audio"
        return [
            Route("/v1/voices", self._guarded(voices.list), methods=["GET", "OPTIONS"]),
            Route("/v1/voices", self._guarded(self._clone, costs=True), methods=["POST"]),
            Route(recording, self._guarded(voices.recording), methods=["GET", "OPTIONS"]),
            Route(one, self._guarded(voices.show), methods=["GET", "OPTIONS"]),
            Route(one, self._guarded(voices.remove, costs=True), methods=["DELETE"]),
        ]

    def _guarded(self, handler: Handler, *, costs: bool = False) -> Callable[..., Any]:
        """Origin, key, rate; then the handler; every error becomes its JSON."""

        async def guarded(request: Request) -> Response:
            origin, host = request.headers.get("origin"), request.headers.get("host", "")
            preflight = request.method == "OPTIONS"
            try:
                if preflight:
                    self._access.check_origin(origin, host)
                    answer = Response(status_code=204)
                else:
                    answer = await handler(request, self._identify(request, costs=costs))
            except CosystreamError as error:
                answer = self._answer(error)
            except ClientDisconnect:  # in the middle of its request; nobody reads the answer
                answer = Response(status_code=CLIENT_LEFT)
            except Exception as fault:  # the one place where a fault of ours becomes a status
                log.exception("request failed", path=request.url.path)
                answer = self._answer(Internal(f"a fault of the server: {type(fault).__name__}"))
            answer.headers.update(self._access.cors_headers(origin, host, preflight=preflight))
            return answer

        return guarded

    def _identify(self, request: Request, *, costs: bool) -> Identity:
        headers = request.headers
        identity = self._access.identify(
            authorization=headers.get("authorization"),
            token=request.query_params.get("token"),
            origin=origin_of(headers),
            host=headers.get("host", ""),
        )
        if costs:
            self._access.require_request(identity, request.client.host if request.client else "")
        return identity

    def _answer(self, error: CosystreamError) -> JSONResponse:
        self._services.metrics.error(error.code)
        headers = {}
        if error.retry_after_ms is not None:
            headers["Retry-After"] = str(-(-error.retry_after_ms // 1000))
        if error.status == 401:  # noqa: PLR2004 - the status RFC 9110 asks this header for
            headers["WWW-Authenticate"] = "Bearer"
        body = {
            "error": {
                "code": error.code,
                "message": error.message,
                "status": error.status,
                "retryable": error.retryable,
                "retry_after_ms": error.retry_after_ms,
            }
        }
        return JSONResponse(body, status_code=error.status, headers=headers)

    async def _speak(self, request: Request, identity: Identity) -> Response:
        asked = await read_request(request, self._services.settings.limits.text_chars)
        self._sessions.refuse_while_draining()
        return await speak(request, asked, identity, self._services, self._sessions.streams)

    async def _clone(self, request: Request, identity: Identity) -> Response:
        self._sessions.refuse_while_draining()
        return await self._voices.create(request, identity)

    async def _mint(self, request: Request, identity: Identity) -> Response:
        asked = invalid.read(await read_body(request) or b"{}", TokenRequest)
        token, expires_in_s = self._access.mint(
            identity, asked.ttl_s, asked.origin, asked.voices, asked.max_characters
        )
        self._services.metrics.token_minted()
        return JSONResponse({"token": token, "expires_in_s": expires_in_s})

    async def _no_websocket(self, _request: Request) -> Response:
        return self._answer(
            BadRequest(
                "/v1/stream is a WebSocket, and this was plain HTTP: connect to it with ws:// or "
                "wss://; a proxy in between must pass the Upgrade header on"
            )
        )

    async def _health(self, _request: Request) -> Response:
        return JSONResponse({"alive": True})

    async def _ready(self, _request: Request) -> Response:
        engine = self._services.engine
        if self._sessions.draining:
            return JSONResponse({"ready": False, "reason": "draining"}, status_code=503)
        if not engine.ready:
            return JSONResponse({"ready": False, "reason": engine.reason}, status_code=503)
        return JSONResponse({"ready": True})

    async def _metrics(self, _request: Request) -> Response:
        self._ask_engine()
        body, content_type = self._services.metrics.render()
        return Response(body, media_type=content_type)

    def _ask_engine(self) -> None:
        engine, metrics = self._services.engine, self._services.metrics
        if engine.stats is not None:
            metrics.engine_stats(engine.stats)
        while self._restarts_told < engine.restarts:
            self._restarts_told += 1
            metrics.engine_restarted()


_GET_POST = ["GET", "POST", "OPTIONS"]
