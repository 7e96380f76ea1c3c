"""One WebSocket from the handshake to ``ready``; every way that can fail, said plainly.

Knows: websockets, the first messages. Does not know: contexts, or connecting again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Origin, Subprotocol

from cosystream import wire
from cosystream.address import Address
from cosystream.errors import ConnectionFailed, CosystreamError, Refused, from_wire
from cosystream.events import Ready
from cosystream.version import __version__

log = logging.getLogger("cosystream")

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Far above anything a server sends; a bound all the same."""

PING_S = 10.0
"""A line that is dead without a word is noticed in two of these, well inside the resume window."""

CLOSE_TIMEOUT_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Access:
    """How to get in."""

    address: Address
    api_key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    origin: str | None = None
    ssl_context: ssl.SSLContext | None = None


@dataclass(frozen=True)
class Link:
    """A connection that is ready."""

    socket: ClientConnection
    ready: Ready

    async def send(self, message: wire.Fields) -> None:
        """One JSON message. Raises websockets' ConnectionClosed."""
        await self.socket.send(wire.encode(message))

    async def receive(self) -> str | bytes:
        """The next message. Raises websockets' ConnectionClosed."""
        return await self.socket.recv()

    async def close(self) -> None:
        """Close with 1000: the server cancels what is left."""
        await self.socket.close()


async def open_link(access: Access, hello: wire.Fields, timeout_s: float) -> Link:
    """Connect, say ``hello``, wait for ``ready``.

    Raises ConnectionFailed where there is no such server, Refused where it will not have us.
    """
    address = access.address
    try:
        async with asyncio.timeout(timeout_s):
            socket = await connect(address.stream_url, **_options(access))
            try:
                return Link(socket, await _greet(socket, hello))
            except BaseException:
                socket.transport.abort()
                raise
    except TimeoutError as late:
        raise ConnectionFailed(
            f"no answer from {address.http_url()} in {timeout_s:g} s", code="timed_out"
        ) from late
    except InvalidStatus as wrong:
        raise _wrong_status(address, wrong.response.status_code) from wrong
    except OSError as wrong:
        raise ConnectionFailed(_unreachable(address, wrong)) from wrong
    except (InvalidHandshake, EOFError) as wrong:
        raise ConnectionFailed(
            f"{address.http_url()} does not speak WebSocket ({wrong})", retryable=False
        ) from wrong


def _options(access: Access) -> dict[str, Any]:
    subprotocols = [Subprotocol(wire.SUBPROTOCOL)]
    if access.token:
        subprotocols.append(Subprotocol(f"token.{access.token}"))
    options: dict[str, Any] = {
        "subprotocols": subprotocols,
        "compression": None,  # audio does not shrink
        "max_size": MAX_MESSAGE_BYTES,
        "open_timeout": None,  # the caller's covers ``ready`` too
        "ping_interval": PING_S,
        "ping_timeout": PING_S,
        "close_timeout": CLOSE_TIMEOUT_S,
        "user_agent_header": f"cosystream-python/{__version__}",
        "origin": Origin(access.origin) if access.origin else None,
    }
    if access.api_key:
        options["additional_headers"] = {"Authorization": f"Bearer {access.api_key}"}
    if access.address.loopback:
        options["proxy"] = None
    if access.address.secure and access.ssl_context is not None:
        options["ssl"] = access.ssl_context
    return options


async def _greet(socket: ClientConnection, hello: wire.Fields) -> Ready:
    with contextlib.suppress(ConnectionClosed):  # a refusal may have come first: read it
        await socket.send(wire.encode(hello))
    try:
        while True:
            message = await socket.recv()
            fields = wire.decode_text(message) if isinstance(message, str) else {"type": "audio"}
            if fields["type"] == "ready":
                return wire.ready_of(fields)
            if fields["type"] == "warning":
                log.warning("%s: %s", fields.get("code"), fields.get("message"))
            if fields["type"] == "error" and fields.get("code") != "resume_unknown":
                raise from_wire(Refused, fields)
    except ConnectionClosed as closed:
        raise ConnectionFailed(f"it was closed before it was ready ({closed})") from closed


def _wrong_status(address: Address, status: int) -> CosystreamError:
    message = (
        f"{address.stream_url} answers HTTP {status} to a WebSocket: is it a cosystream server,"
        " and is the path prefix right?"
    )
    return ConnectionFailed(message, status=status, retryable=status in {502, 503, 504})


def _unreachable(address: Address, wrong: OSError) -> str:
    reason = wrong.strerror or str(wrong) or type(wrong).__name__
    advice = "give another address" if not address.loopback else "start one with `make serve`"
    return f"no server at {address.http_url()} ({reason}): {advice}, or check the address"
