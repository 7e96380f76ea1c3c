"""What stock uvicorn cannot do, each shown on it as it is, and then on ours that can.

If one of the stock tests fails after an upgrade, uvicorn has learned it, and the cure can go.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from servers import LiveServer, free_port
from talk import eventually, talking
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from server.transport import EXTENSION, SOCKET_SEND_BUFFER_BYTES, WRITE_HIGH_WATER_BYTES, Wire

STOCK = WebSocketsSansIOProtocol
App = Callable[["Handler"], Awaitable[None]]
BLOCK = b"x" * 65_536


@dataclass
class Handler:
    """One ASGI connection, accepted, and what the application has learned of it."""

    scope: dict[str, Any]
    receive: Callable[[], Awaitable[dict[str, Any]]]
    send: Callable[[dict[str, Any]], Awaitable[None]]
    disconnects: list[int] = field(default_factory=list)
    blocks: int = 0

    async def send_block(self) -> None:
        await self.send({"type": "websocket.send", "bytes": BLOCK})
        self.blocks += 1

    async def until_disconnected(self) -> None:
        while (message := await self.receive())["type"] != "websocket.disconnect":
            pass
        self.disconnects.append(message["code"])

    @property
    def wire(self) -> Wire:
        return self.scope["extensions"][EXTENSION]


@contextlib.asynccontextmanager
async def serving(
    protocol: type[WebSocketsSansIOProtocol], app: App, **options: Any
) -> AsyncIterator[tuple[int, list[Handler]]]:
    """uvicorn with that protocol in this process; its port and the connections it has had."""
    handlers: list[Handler] = []

    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        handler = Handler(scope, receive, send)
        handlers.append(handler)
        await receive()
        await send({"type": "websocket.accept"})
        await app(handler)

    sock = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        asgi, ws=protocol, lifespan="off", log_config=None, ws_per_message_deflate=False, **options
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[sock]))
    await eventually(lambda: server.started)
    yield sock.getsockname()[1], handlers
    server.should_exit = True
    await asyncio.wait_for(task, 10)


@contextlib.contextmanager
def stalled(port: int) -> Iterator[socket.socket]:
    """A peer that says it wants a WebSocket, and then reads nothing."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", port))
        sock.sendall(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
            + base64.b64encode(os.urandom(16))
            + b"\r\n\r\n"
        )
        yield sock


class TestAReaderThatStalls:
    async def test_holds_up_stock_uvicorn_even_when_it_closes(self) -> None:
        outcomes: list[str] = []

        async def flood_then_close(handler: Handler) -> None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    while True:
                        await handler.send_block()
            try:
                async with asyncio.timeout(1.0):
                    await handler.send({"type": "websocket.close", "code": 1013})
                outcomes.append("closed")
            except TimeoutError:
                outcomes.append("blocked")

        async with serving(STOCK, flood_then_close) as (port, handlers):
            with stalled(port):
                await eventually(lambda: bool(outcomes))
                assert handlers[0].blocks > 0
        assert outcomes == ["blocked"]

    async def test_is_not_dropped_by_stock_uvicorns_pings(self) -> None:
        async def flood(handler: Handler) -> None:
            flooding = asyncio.create_task(_flood(handler))
            await handler.until_disconnected()
            flooding.cancel()

        pings = {"ws_ping_interval": 0.1, "ws_ping_timeout": 0.1}
        async with serving(STOCK, flood, **pings) as (port, handlers):
            with stalled(port):
                await eventually(lambda: len(handlers) == 1)
                await asyncio.sleep(1.5)
                assert handlers[0].disconnects == []
            await eventually(lambda: handlers[0].disconnects == [1005])

    async def test_never_holds_up_ours_which_is_told_and_drops_it_at_will(self) -> None:
        told: list[bool] = []

        async def flood_then_abort(handler: Handler) -> None:
            wire = handler.wire
            wire.on_writable = told.append
            while wire.can_write:
                wire.write_binary(BLOCK)
                handler.blocks += 1
                await asyncio.sleep(0)
            wire.write_binary(BLOCK)
            wire.abort(4009, "slow_consumer")
            await handler.until_disconnected()

        async with serving(Wire, flood_then_abort) as (port, handlers):
            with stalled(port) as sock:
                await eventually(lambda: bool(handlers and handlers[0].disconnects))
                sock.settimeout(2)
                with contextlib.suppress(ConnectionResetError):
                    while sock.recv(65_536):
                        pass
        assert told[0] is False
        assert handlers[0].disconnects == [1006]

    async def test_makes_ours_hold_little(self) -> None:
        async def flood(handler: Handler) -> None:
            while handler.wire.can_write:
                handler.wire.write_binary(BLOCK)
                handler.blocks += 1
                await asyncio.sleep(0)
            await handler.until_disconnected()

        async with serving(Wire, flood) as (port, handlers):
            with stalled(port):
                await eventually(lambda: bool(handlers) and not handlers[0].wire.can_write)
                held = handlers[0].blocks * len(BLOCK)
        # The kernel doubles what it is asked for, on both sides of the connection.
        assert held <= 2 * SOCKET_SEND_BUFFER_BYTES + WRITE_HIGH_WATER_BYTES + 3 * len(BLOCK)

    async def test_is_dropped_by_our_pings(self) -> None:
        async def flood(handler: Handler) -> None:
            while handler.wire.can_write:
                handler.wire.write_binary(BLOCK)
                await asyncio.sleep(0)
            await handler.until_disconnected()

        pings = {"ws_ping_interval": 0.1, "ws_ping_timeout": 0.1}
        async with serving(Wire, flood, **pings) as (port, handlers):
            with stalled(port):
                await eventually(lambda: bool(handlers and handlers[0].disconnects))


async def _flood(handler: Handler) -> None:
    while True:
        await handler.send_block()


class TestALostConnection:
    @staticmethod
    async def _codes(protocol: type[WebSocketsSansIOProtocol]) -> list[int]:
        """What the application is told of a loss, and of a close frame without a code."""
        async with serving(protocol, Handler.until_disconnected) as (port, handlers):
            async with connect(f"ws://127.0.0.1:{port}") as client:
                client.transport.abort()
            await eventually(lambda: bool(handlers[0].disconnects))
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(
                b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            )
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"\x88\x80\0\0\0\0")
            await eventually(lambda: bool(handlers[1].disconnects))
            writer.close()
            await writer.wait_closed()
        return [code for handler in handlers for code in handler.disconnects]

    async def test_and_a_close_frame_without_a_code_look_alike_to_stock_uvicorn(self) -> None:
        assert await self._codes(STOCK) == [1005, 1005]

    async def test_is_told_apart_by_ours(self) -> None:
        assert await self._codes(Wire) == [1006, 1005]

    async def test_parks_a_session_and_such_a_frame_ends_it(self, tone_server: LiveServer) -> None:
        async with talking(tone_server.ws_url, {}) as talk:
            talk.socket.transport.abort()
        await eventually(lambda: tone_server.metric("parked_sessions") >= 1)
        parked = tone_server.metric("parked_sessions")
        async with talking(tone_server.ws_url, {}) as talk:
            talk.socket.transport.write(b"\x88\x80\0\0\0\0")
            with pytest.raises(ConnectionClosed):
                await talk.next()
        await eventually(lambda: tone_server.metric("sessions") == 0)
        assert tone_server.metric("parked_sessions") == parked


STOCK_SERVER = """
    import asyncio, sys, uvicorn

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            print("told of the shutdown", flush=True)
            await send({"type": "lifespan.shutdown.complete"})
            return
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        print("disconnected", flush=True)

    config = uvicorn.Config(app, port=int(sys.argv[1]), ws="websockets-sansio", log_config=None)
    uvicorn.Server(config).run()
"""


@contextlib.contextmanager
def stock_server(directory: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Stock uvicorn as a process of its own."""
    script, port = directory / "stock.py", free_port()
    script.write_text(textwrap.dedent(STOCK_SERVER), encoding="utf-8")
    process = subprocess.Popen([sys.executable, script, str(port)], stdout=subprocess.PIPE)
    try:
        yield port, process
    finally:
        process.kill()
        process.communicate()


class TestSigterm:
    async def test_makes_stock_uvicorn_close_before_the_application_hears_of_it(
        self, tmp_path: Path
    ) -> None:
        with stock_server(tmp_path) as (port, process):
            client = await _connect(port)
            process.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed) as closed:
                await asyncio.wait_for(client.recv(), 5)
            said, _ = await asyncio.to_thread(process.communicate, timeout=10)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        assert said.split(b"\n")[:2] == [b"disconnected", b"told of the shutdown"]

    async def test_makes_ours_speak_to_the_end_first(self, start_server) -> None:
        server = start_server(engine__runner="tone", drain_s=10)
        async with talking(server.ws_url, {}) as talk:
            await talk.send("text", delta="This is said to its end.")
            await talk.send("end")
            await talk.until_audio()
            server.process.send_signal(signal.SIGTERM)
            await talk.until("going_away")
            assert b"alive" in await asyncio.to_thread(server.get, "/healthz")
            done = await talk.until("done")
            with pytest.raises(ConnectionClosed) as closed:
                await talk.next()
        assert done["audio_ms"] > 1_000
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001


async def _connect(port: int) -> Any:
    async with asyncio.timeout(10):
        while True:
            try:
                return await connect(f"ws://127.0.0.1:{port}", open_timeout=2)
            except OSError:
                await asyncio.sleep(0.02)
