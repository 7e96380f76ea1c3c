"""One HTTP request and its JSON answer, through the standard library; it blocks.

Knows: keys in headers, proxies, what a refusal looks like. Does not know: what is asked.
"""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from cosystream import wire
from cosystream.address import Address
from cosystream.errors import ConnectionFailed, CosystreamError, Refused, from_wire

_MAX_BODY_BYTES = 4 * 1024 * 1024
JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where to ask, and as whom."""

    address: Address
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 10.0
    ssl_context: ssl.SSLContext | None = None

    def ask(
        self,
        path: str,
        body: wire.Fields | bytes | None = None,
        *,
        method: str | None = None,
        content_type: str = JSON,
    ) -> dict[str, Any]:
        """The answer, empty where there is none to read. Raises ConnectionFailed or Refused."""
        headers = {"Accept": JSON, "Content-Type": content_type}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        data = body if body is None or isinstance(body, bytes) else wire.encode(body).encode()
        request = Request(  # noqa: S310 - the scheme is http or https by construction
            self.address.http_url(path), data=data, headers=headers, method=method
        )
        try:
            with self._opener().open(request, timeout=self.timeout_s) as response:
                answer = response.read(_MAX_BODY_BYTES)
        except HTTPError as refused:
            with refused:
                raise self._refusal(refused.code, refused.read(_MAX_BODY_BYTES)) from None
        except (URLError, TimeoutError, OSError) as failed:
            reason = getattr(failed, "reason", failed)
            where = self.address.http_url()
            raise ConnectionFailed(f"no answer from {where} ({reason})") from failed
        return self._object_of(answer) if answer else {}

    def _opener(self) -> OpenerDirector:
        handlers: list[HTTPSHandler | ProxyHandler] = []
        if self.address.loopback:
            handlers.append(ProxyHandler({}))
        if self.ssl_context is not None:
            handlers.append(HTTPSHandler(context=self.ssl_context))
        return build_opener(*handlers)

    def _object_of(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
        except ValueError as wrong:
            raise self._stranger() from wrong
        if not isinstance(answer, dict):
            raise self._stranger()
        return answer

    def _refusal(self, status: int, body: bytes) -> CosystreamError:
        try:
            return from_wire(Refused, json.loads(body)["error"])
        except (ValueError, KeyError, TypeError, AttributeError):  # not our server's body
            return Refused(f"{self.address.http_url()} answers HTTP {status}", status=status)

    def _stranger(self) -> ConnectionFailed:
        return ConnectionFailed(
            f"{self.address.http_url()} answers, but not as a cosystream server does",
            retryable=False,
        )
