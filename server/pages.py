"""The files a browser is given: the page that talks, and the client library it uses.

Knows: where they lie, their types, and what the page may load. Does not know: what they do.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

_ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = _ROOT / "server" / "page"
SDK: Final = _ROOT / "clients" / "web" / "dist"

POLICY: Final = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ws: wss:; "
    "media-src 'self' blob:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
)
"""The page loads nothing from elsewhere; WebAssembly is for browsers without an Opus decoder, blobs
are recordings that the reader listens to before they become a voice."""

_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

# Windows lets installed programs say otherwise, and a module of another type is not run.
mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("application/wasm", ".wasm")


_SHARED: Final = {
    "Access-Control-Allow-Origin": "*",
    "X-Content-Type-Options": "nosniff",
}
"""The library is the same for everybody: pages of any origin may import it (and then be refused
a connection, if theirs is not allowed)."""


class _Files(StaticFiles):
    """Files with headers of their own."""

    def __init__(self, directory: Path, headers: Mapping[str, str], *, html: bool = False) -> None:
        super().__init__(directory=directory, html=html, check_dir=False)
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ``StaticFiles``, the headers added."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await super().__call__(scope, receive, send_with_headers)


def mounts() -> list[Mount]:
    """``/sdk/`` and ``/``, the latter last: it takes every path that is left."""
    return [
        Mount("/sdk", _Files(SDK, _SHARED)),
        Mount("/", _Files(PAGE, _HEADERS, html=True)),
    ]
