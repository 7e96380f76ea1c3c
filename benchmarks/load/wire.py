"""One WebSocket as cheaply as Python has it: no task, no queue, a call for each message.

The protocol itself is that of the ``websockets`` package, without its I/O. Knows: bytes, messages,
when they came. Does not know: what they mean.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from typing import Protocol, cast

from websockets.client import ClientProtocol
from websockets.frames import DATA_OPCODES, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import WebSocketURI, parse_uri

SUBPROTOCOL = "cosystream.v1"


class Listener(Protocol):
    """Who is called as things arrive; ``now_s`` is when their bytes did."""

    def on_text(self, text: bytes, now_s: float) -> None:
        """A text message."""

    def on_binary(self, data: bytes, now_s: float) -> None:
        """A binary message."""

    def on_close(self, code: int) -> None:
        """The connection is gone; 1006 when nobody said goodbye."""


class Wire(asyncio.Protocol):
    """A connection; ``opened`` is done once messages may be sent."""

    def __init__(self, uri: WebSocketURI, key: str | None, listener: Listener) -> None:
        self._listener = listener
        self._protocol = ClientProtocol(uri, subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=None)
        self._key = key
        self._transport: asyncio.Transport | None = None
        self._fragments: list[bytes] = []
        self._kind = Opcode.TEXT
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the WebSocket."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by inheritance
        request = self._protocol.connect()
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        self._protocol.send_request(request)
        self._write()

    def data_received(self, data: bytes) -> None:
        """Hand on every message that is complete."""
        now_s = time.perf_counter()
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._frame(event, now_s)
            elif isinstance(event, Response) and not self.opened.done():
                self._answered()
        self._write()

    def eof_received(self) -> None:
        """The other side sends nothing more."""
        self._protocol.receive_eof()
        self._write()

    def connection_lost(self, error: Exception | None) -> None:
        """Tell the listener, or whoever waits for the connection to open."""
        if not self.opened.done():
            self.opened.set_exception(error or ConnectionResetError("closed during the handshake"))
            return
        self._protocol.receive_eof()
        self._listener.on_close(self._protocol.close_code or 1006)

    def send(self, text: bytes) -> None:
        """A text message; dropped when the connection is closing."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_text(text)
            self._write()

    def close(self) -> None:
        """Say goodbye, and go when it is answered."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(1000)
            self._write()

    def abort(self) -> None:
        """Be gone at once."""
        if self._transport is not None:
            self._transport.abort()

    def _answered(self) -> None:
        if self._protocol.handshake_exc is None:
            self.opened.set_result(None)
        else:
            self.opened.set_exception(self._protocol.handshake_exc)

    def _frame(self, frame: Frame, now_s: float) -> None:
        if frame.opcode not in DATA_OPCODES:
            return  # pings and closes were answered by the protocol
        if frame.opcode is not Opcode.CONT:
            self._kind = frame.opcode
        self._fragments.append(bytes(frame.data))
        if not frame.fin:
            return
        message = b"".join(self._fragments)
        self._fragments.clear()
        if self._kind is Opcode.BINARY:
            self._listener.on_binary(message, now_s)
        else:
            self._listener.on_text(message, now_s)

    def _write(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        for data in self._protocol.data_to_send():
            if data:
                transport.write(data)
            else:
                transport.close()


async def connect(url: str, key: str | None, listener: Listener) -> Wire:
    """An open connection. Raises ``OSError`` or ``websockets.exceptions.InvalidHandshake``."""
    uri = parse_uri(url)
    _, wire = await asyncio.get_running_loop().create_connection(
        lambda: Wire(uri, key, listener),
        uri.host,
        uri.port,
        ssl=ssl.create_default_context() if uri.secure else None,
    )
    await wire.opened
    return wire
