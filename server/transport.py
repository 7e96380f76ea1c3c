"""One WebSocket's wire: uvicorn's sans-I/O protocol, cured of what stock uvicorn cannot do.

Measured on uvicorn 0.54, each with a test beside this module's:

* with a reader that has stalled, even ``send(close)`` waits for ever and no ping timeout ends
  it: here sending never waits, ``pause_writing`` and ``resume_writing`` are told to whoever
  listens, and ``abort`` drops the connection at once;
* a lost connection and a close frame without a code both look like 1005: here a connection lost
  without a close frame is told as 1006;
* the kernel takes megabytes for a reader that reads nothing: the send buffer is bounded;
* one read may hold forty thousand frames, and all of them were taken, queued and answered before
  anybody else's turn: here a turn is short, and pings that wait unread are answered once.

Knows: uvicorn's protocol class, frames, buffers. Does not know: what the messages say.
"""

from __future__ import annotations

import contextlib
import socket
import time
from asyncio import BaseTransport, Handle
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame

EXTENSION = "cosystream.wire"
"""The key in an ASGI scope's ``extensions`` under which the application finds the wire."""

SOCKET_SEND_BUFFER_BYTES = 131_072
WRITE_HIGH_WATER_BYTES = 65_536

TURN_S = 0.005
"""How long one connection's frames are taken before the others have their turn."""

TURN_PIECE_BYTES = 1_024
"""The time is looked at after so many bytes; they may be some 170 frames."""


class Wire(WebSocketsSansIOProtocol):
    """A connection that is written to without waiting and can be dropped without asking."""

    on_writable: Callable[[bool], None] | None = None
    """Told ``False`` when the peer stops taking data and ``True`` when it takes it again."""

    _turn: Handle | None = None
    """The next turn, where there is more to take than fitted in this one."""
    _pong: bytes = b""
    """The answer to the latest pings, while the peer takes nothing."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Bound what the kernel and the event loop hold for a peer that does not read."""
        super().connection_made(transport)
        self._untaken = bytearray()
        # At `debug` it would log every frame: what clients say, and the tokens they say it with.
        self.conn.debug = False
        self.transport.set_write_buffer_limits(high=WRITE_HIGH_WATER_BYTES)
        sock: socket.socket | None = transport.get_extra_info("socket")
        if sock is not None:
            # A platform that refuses the size keeps its own: the write limits above still hold.
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_SEND_BUFFER_BYTES)

    async def run_asgi(self) -> None:
        """Hand this wire to the application beside the ASGI calls."""
        extensions: dict[str, Any] = self.scope["extensions"]
        extensions[EXTENSION] = self
        await super().run_asgi()

    @property
    def open(self) -> bool:
        """Whether a message sent now can still go out."""
        return not (self.close_sent or self.disconnected or self.transport.is_closing())

    @property
    def can_write(self) -> bool:
        """Whether the peer takes data."""
        return self.writable.is_set()

    @property
    def buffered_bytes(self) -> int:
        """Bytes handed over that the kernel has not taken yet."""
        return int(self.transport.get_write_buffer_size())

    def write_text(self, data: bytes) -> None:
        """Send a text message of UTF-8 ``data``; dropped when the connection is over."""
        self._write(self.conn.send_text, data)

    def write_binary(self, data: bytes) -> None:
        """Send a binary message; dropped when the connection is over."""
        self._write(self.conn.send_binary, data)

    def _write(self, frame: Callable[[bytes], None], data: bytes) -> None:
        if not self.open:
            return
        # The peer's close frame may have been read in this very iteration of the loop.
        with contextlib.suppress(InvalidState):
            frame(data)
            self.transport.write(b"".join(self.conn.data_to_send()))

    def close(self, code: int, reason: str) -> None:
        """Send a close frame behind what was written; cut off if it is not answered in time."""
        if not self.open:
            return
        with contextlib.suppress(InvalidState):
            self.conn.send_close(code, _short(reason))
            self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
            if self._untaken and self._turn is None:
                self._take_later()
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.abort)

    def abort(self, code: int, reason: str) -> None:
        """Drop the connection now; the close frame goes out only if the socket takes it."""
        if self.open and self.can_write:
            self.close(code, reason)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came, or what fits in a turn of it."""
        self._untaken += data
        if self._turn is None:
            self._take()

    async def receive(self) -> Any:
        """The next message for the application; the last one that waited lets more be taken."""
        message = await super().receive()
        if self._untaken and self._turn is None:
            self._take_later()
        return message

    def _take(self) -> None:
        self._turn = None
        until_s = time.monotonic() + TURN_S
        while self._may_take and time.monotonic() < until_s:
            piece = bytes(self._untaken[:TURN_PIECE_BYTES])
            del self._untaken[:TURN_PIECE_BYTES]
            super().data_received(piece)
        if self._untaken:
            self._take_later()
        elif not self.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    @property
    def _may_take(self) -> bool:
        return bool(self._untaken) and not self.read_paused and not self.transport.is_closing()

    def _take_later(self) -> None:
        """Read nothing more meanwhile; while messages wait for the application, take nothing."""
        if self.transport.is_closing():
            self._untaken.clear()
            return
        self.transport.pause_reading()
        if not self.read_paused:
            self._turn = self.loop.call_soon(self._take)

    def handle_ping(self) -> None:
        """Answer it; only what came last, and once it is read, where the peer takes nothing."""
        if self.can_write:
            super().handle_ping()
        elif answer := b"".join(self.conn.data_to_send()):  # to all pings of one piece
            self._pong = answer

    def pause_writing(self) -> None:
        """The peer has stopped taking data."""
        super().pause_writing()
        if self.on_writable is not None:
            self.on_writable(False)

    def resume_writing(self) -> None:
        """The peer takes data again."""
        super().resume_writing()
        if self._pong and self.open:
            self.transport.write(self._pong)
        self._pong = b""
        if self.on_writable is not None:
            self.on_writable(True)

    def handle_close(self, event: Frame) -> None:
        """Answer the peer's close frame; it may not read the answer, so do not wait for ever."""
        super().handle_close(event)
        self._abort_later()

    def eof_received(self) -> None:
        """The peer has shut its side: what is buffered for it may never drain."""
        self._abort_later()

    def _abort_later(self) -> None:
        if self.close_timer is None and not self.disconnected:
            self.close_timer = self.loop.call_later(self.close_timeout, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell a loss without a close frame as 1006."""
        if self.handshake_complete and self.conn.close_rcvd is None and not self.close_sent:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": 1006})
        super().connection_lost(exc)
        self._untaken.clear()
        if self._turn is not None:
            self._turn.cancel()

    def keepalive_timeout(self) -> None:
        """No pong: the peer is gone, and what is buffered for it will never drain."""
        self.pong_timer = None
        self.pending_ping_payload = None
        self.transport.abort()


def _short(reason: str) -> str:
    """A close frame holds 125 bytes, 2 of them the code."""
    return reason.encode()[:123].decode(errors="ignore")
