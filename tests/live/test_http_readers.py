"""Who asked over plain HTTP and leaves, or stalls: what was begun for it ends."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import urllib.parse

import httpx
import psutil
import pytest
from http_rig import FORMATS, LONG, drained, streaming, value_of
from servers import LiveServer
from talk import eventually, talking


def _half_a_request(server: LiveServer) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))
    sock.sendall(b'POST /v1/speak HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{"text"')
    return sock


class TestReadersThatLeave:
    @pytest.mark.parametrize("name", FORMATS)
    async def test_leaving_ends_the_engines_work(self, tone_server: LiveServer, name: str) -> None:
        await eventually(lambda: tone_server.metric("engine_contexts") == 0)
        async with streaming(tone_server, text=LONG * 1000, format=name) as pieces:
            await anext(pieces)
            await eventually(lambda: tone_server.metric("engine_contexts") == 1)
        await eventually(lambda: tone_server.metric("engine_contexts") == 0)

    async def test_leaving_before_the_first_audio_does_too(self, tone_server: LiveServer) -> None:
        def cancelled() -> float:
            text = tone_server.get("/metrics").decode()
            return value_of(text, 'cosystream_contexts_ended_total{outcome="cancelled"}')

        before = cancelled()
        port = int(tone_server.url.rsplit(":", 1)[1])
        query = urllib.parse.urlencode({"text": f"[[sleep:3]] {LONG}"})
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(f"GET /v1/speak?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            await asyncio.sleep(0.2)
        await eventually(lambda: cancelled() == before + 1, 2.5)

    async def test_one_that_stalls_is_cut_off(self, start_server) -> None:
        server = start_server(engine__runner="tone", limits__idle_s=1)
        port = int(server.url.rsplit(":", 1)[1])
        query = urllib.parse.urlencode({"text": LONG * 500, "format": "wav"})
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", port))
            sock.sendall(f"GET /v1/speak?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            await eventually(lambda: server.metric("engine_contexts") == 1)
            await eventually(lambda: server.metric("engine_contexts") == 0)

    async def test_leaving_in_the_middle_of_asking_is_no_fault_of_ours(self, start_server) -> None:
        server = start_server(engine__runner="tone")
        with _half_a_request(server):
            await asyncio.sleep(0.2)
        await asyncio.sleep(0.2)
        assert 'errors_total{code="internal"} 0.0' in server.get("/metrics").decode()
        assert "Traceback" not in server.log

    async def test_one_that_never_asks_to_the_end_is_cut_off(self, start_server) -> None:
        server = start_server(engine__runner="tone", limits__idle_s=1)
        with _half_a_request(server) as sock:
            sock.settimeout(20)
            with contextlib.suppress(ConnectionResetError):
                assert await asyncio.to_thread(sock.recv, 1) == b""
        async with talking(server.ws_url, {}) as talk:
            await talk.send("text", delta="A sentence that takes longer than that. " * 2)
            await talk.send("end")
            await talk.until("done")

    async def test_an_engine_that_dies_in_mid_stream_cuts_the_transfer_off(
        self, start_server
    ) -> None:
        server = start_server(engine__runner="tone")
        children = psutil.Process(server.process.pid).children(recursive=True)
        engine = next(child for child in children if "engine" in child.cmdline())
        async with streaming(server, text=(LONG + "[[sleep:0.05]]") * 50) as pieces:
            await anext(pieces)
            engine.kill()
            with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
                await drained(pieces)
        assert "engine_restarted" in server.log
        assert "Traceback" not in server.log
