"""Pacing and backpressure: never further ahead than asked, never held up by a slow reader."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import socket
import time

import pytest
from servers import LiveServer, StartServer
from talk import eventually, talking

LONG = "A sentence with quite a few words in it, to be spoken at some length. " * 8


@pytest.mark.parametrize("lead_ms", [0, 300])
async def test_packets_never_run_further_ahead_than_the_lead(
    live_server: LiveServer, lead_ms: int
) -> None:
    async with talking(live_server.ws_url, {"pacing": {"lead_ms": lead_ms}}) as talk:
        await talk.send("text", delta=LONG)
        for _ in range(25):
            await talk.until_audio()
    packets = talk.audio()
    began = packets[0].at_s
    for packet in packets:
        ahead_ms = packet.pts / 48 - (packet.at_s - began) * 1000
        assert ahead_ms <= lead_ms + 15


async def test_unpaced_audio_comes_as_fast_as_it_is_made(live_server: LiveServer) -> None:
    began = time.perf_counter()
    async with talking(live_server.ws_url, {"pacing": {"lead_ms": None}}) as talk:
        done = await talk.speak(LONG)
    assert done["audio_ms"] > 20_000
    assert time.perf_counter() - began < done["audio_ms"] / 1000 / 3


async def test_a_lead_longer_than_the_engine_works_ahead_is_had(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, {"pacing": {"lead_ms": 60_000}}) as talk:
        await talk.send("text", delta=LONG)
        await talk.send("end")
        while not talk.audio() or talk.audio()[-1].pts / 48 < 8_000:
            await talk.until_audio()


async def test_an_engine_that_works_hardly_ahead_is_told_in_time(
    start_server: StartServer,
) -> None:
    server = start_server(engine__runner="tone", engine__max_ahead_s=0.3)
    async with talking(server.ws_url, {}) as talk:
        await talk.speak("Some words.")


async def test_a_client_that_reports_a_stall_is_not_run_ahead_of(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta=LONG)
        await talk.until_audio()
        for _ in range(15):
            await talk.send("played", ctx="a", pts_ms=100)
            await talk.quiet(0.1)
    assert talk.audio()[-1].pts / 48 <= 100 + 400 + 250


async def test_a_queued_context_follows_without_a_gap(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        for name in ("a", "b"):
            await talk.send("open", ctx=name)
            await talk.send("text", ctx=name, delta="Some words to be spoken.")
            await talk.send("end", ctx=name)
        await talk.until("done", ctx="b")
    packets = talk.audio()
    late_ms = [
        (packet.at_s - packets[0].at_s) * 1000 - number * 80
        for number, packet in enumerate(packets)
    ]
    # A pause between them would delay all that follow; a machine that stalls delays a few.
    late_ms.sort()
    assert late_ms[len(late_ms) // 2] < 50


def _raw_socket(server: LiveServer, hello: bytes) -> socket.socket:
    """A WebSocket by hand, so that nothing reads what we do not read."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))
    key = base64.b64encode(os.urandom(16))
    sock.sendall(
        b"GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        + key
        + b"\r\n\r\n"
    )
    sock.recv(1024)
    sock.sendall(hello)
    return sock


def _frame(text: bytes) -> bytes:
    """A masked text frame with an all-zero mask."""
    size = len(text)
    head = bytes([0x81, 0x80 | size]) if size < 126 else b"\x81\xfe" + size.to_bytes(2, "big")
    return head + b"\0\0\0\0" + text


_FLOOD = (
    _frame(b'{"type": "hello", "audio": {"codec": "pcm_s16le", "rate": 48000}, '
           b'"pacing": {"lead_ms": null}}')
    + _frame(b'{"type": "text", "delta": "' + LONG.encode() * 8 + b'"}')
    + _frame(b'{"type": "end"}')
)  # fmt: skip


async def test_a_stalled_reader_is_dropped_and_its_work_cancelled(start_server) -> None:
    server = start_server(engine__runner="tone", limits__slow_consumer_s=1)
    sock = _raw_socket(server, _FLOOD)
    with sock:
        await eventually(lambda: server.metric("contexts") == 1)
        await eventually(lambda: server.metric("sessions") == 0)
        assert server.metric("contexts") == 0
        assert server.metric("parked_sessions") == 0
        assert (
            'cosystream_errors_total{code="slow_consumer"} 1.0' in server.get("/metrics").decode()
        )


async def test_a_stalled_reader_holds_up_nobody_and_fills_no_memory(start_server) -> None:
    server = start_server(engine__runner="tone", limits__slow_consumer_s=30)
    with contextlib.ExitStack() as socks:
        for _ in range(5):
            socks.enter_context(_raw_socket(server, _FLOOD))
        async with talking(server.ws_url, {}) as talk:
            done = await talk.speak("A calm sentence beside all that.")
    assert done["first_packet_ms"] < 15_000  # the others are given up only after 30 s


async def test_a_slow_reader_gets_everything(start_server) -> None:
    server = start_server(engine__runner="tone", limits__slow_consumer_s=1)
    options = {"codec": "pcm_s16le", "rate": 48000}
    hello = {"audio": options, "pacing": {"lead_ms": None}}
    async with talking(server.ws_url, hello, max_queue=1) as talk:
        await talk.send("text", delta=LONG * 2)
        await talk.send("end")
        while not talk.events("done"):
            await talk.next()
            await asyncio.sleep(0.004)
        done = talk.events("done")[0]
    assert abs(len(talk.pcm()) - done["samples"] * 2) < 48 * 80
    assert done["audio_ms"] > 30_000


@pytest.mark.parametrize(
    "message",
    [b'{"type": "ping", "id": "' + b"x" * 4000 + b'"}', b'{"type": "shout"}' + b" " * 400],
    ids=["within a session", "before any"],
)
async def test_a_client_that_only_sends_is_dropped(start_server, message: bytes) -> None:
    server = start_server(
        engine__runner="tone", limits__slow_consumer_s=1, limits__messages_per_s=1_000_000
    )
    sock = _raw_socket(server, _frame(message))
    with sock:
        sock.settimeout(10)
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            sock.sendall(_frame(message) * 50_000)
    await eventually(lambda: server.metric("sessions") == 0)


async def test_a_close_frame_from_a_stalled_reader_frees_its_work(start_server) -> None:
    server = start_server(engine__runner="tone", limits__slow_consumer_s=60)
    sock = _raw_socket(server, _FLOOD)
    with sock:
        await eventually(lambda: server.metric("contexts") == 1)
        await asyncio.sleep(0.5)
        sock.sendall(b"\x88\x82\0\0\0\0\x03\xe8")
        await eventually(lambda: server.metric("contexts") == 0)  # long before those 60 s
        assert server.metric("parked_sessions") == 0


def _ping(number: int) -> bytes:
    """A masked ping of the WebSocket itself, not one of ours."""
    return b"\x89\x84\0\0\0\0" + number.to_bytes(4, "big")


async def test_a_flood_of_frames_keeps_nobody_waiting(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, {}) as talk:
        with _raw_socket(tone_server, _frame(b'{"type": "hello"}')) as sock:
            flood = b"\x89\x80\0\0\0\0" * 300_000
            flooding = asyncio.create_task(asyncio.to_thread(sock.sendall, flood))
            waits_s = []
            for number in range(20):
                began_s = time.perf_counter()
                await talk.send("ping", id=number)
                await talk.until("pong", id=number)
                waits_s.append(time.perf_counter() - began_s)
            await flooding
        assert sorted(waits_s)[10] < 0.4


async def test_pings_that_wait_unread_are_answered_once(tone_server: LiveServer) -> None:
    last = 100_000
    with _raw_socket(tone_server, b"") as sock:
        sock.settimeout(10)
        await asyncio.to_thread(sock.sendall, b"".join(map(_ping, range(last + 1))))
        sock.sendall(_frame(b'{"type": "hello"}'))
        await eventually(lambda: tone_server.metric("sessions") == 1, 20)
        read = await asyncio.to_thread(_read_until, sock, b"\x8a\x04" + last.to_bytes(4, "big"))
    assert read < 500_000 < 6 * last


def _read_until(sock: socket.socket, what: bytes) -> int:
    """How many bytes come until ``what`` is among them."""
    tail, read = b"", 0
    while what not in tail:
        piece = sock.recv(65_536)
        assert piece, "closed before that"
        tail, read = tail[-16:] + piece, read + len(piece)
    return read
