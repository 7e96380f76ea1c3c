"""The load generator against a server of the test's own, which can be made to misbehave."""

from __future__ import annotations

import asyncio
import json
import struct
import threading
from contextlib import contextmanager

import pytest
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

from benchmarks.load import report, worker
from benchmarks.load.__main__ import main
from benchmarks.load.options import Options
from benchmarks.load.session import Session

LOUD = b"\x00\x10" * 1920


class Server:
    """Speaks three packets a context, ahead of the listener; a fault is a method replaced."""

    def __init__(self):
        self.connections = 0
        self.texts = []

    async def handle(self, socket):
        self.connections += 1
        sids = {}
        try:
            async for message in socket:
                await self.on_message(socket, sids, json.loads(message))
        except ConnectionClosed:
            pass

    async def on_message(self, socket, sids, message):
        ctx = message.get("ctx")
        if message["type"] == "hello":
            await self.tell(socket, type="ready", audio={"pre_skip": 0})
        elif message["type"] == "open":
            sids[ctx] = len(sids) + 1
            await self.tell(socket, type="opened", ctx=ctx, sid=sids[ctx])
        elif message["type"] == "text":
            self.texts.append(message["delta"])
        elif message["type"] == "end":
            await self.speak(socket, ctx, sids[ctx])

    async def speak(self, socket, ctx, sid):
        for number in range(3):
            await self.packet(socket, sid, number * 3840)
            await asyncio.sleep(0.01)
        await self.done(socket, ctx)

    async def packet(self, socket, sid, pts):
        await socket.send(struct.pack(">BBHIQ", 0x11, 0, sid, 1, pts) + LOUD)

    async def done(self, socket, ctx):
        await self.tell(socket, type="done", ctx=ctx, audio_ms=240, first_packet_ms=1.0)

    async def tell(self, socket, **event):
        await socket.send(json.dumps(event))


@contextmanager
def running(server):
    """The server in a loop and thread of its own, as the generator blocks this one."""
    started, port = threading.Event(), []

    async def run():
        stopped = asyncio.Event()
        stop.append((asyncio.get_running_loop(), stopped))
        async with serve(server.handle, "127.0.0.1", 0) as listening:
            port.append(listening.sockets[0].getsockname()[1])
            started.set()
            await stopped.wait()

    stop = []
    thread = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
    thread.start()
    assert started.wait(5)
    try:
        yield f"http://127.0.0.1:{port[0]}"
    finally:
        loop, stopped = stop[0]
        loop.call_soon_threadsafe(stopped.set)
        thread.join(15)


def load(server, **options):
    with running(server) as url:
        chosen = Options(url=url, seconds=1.0, codec="pcm_s16le", burst=True, **options)
        return report.figures(chosen, worker.run(chosen, 0))


def test_sessions_that_talk_without_pause_open_the_next_context_before_the_silence():
    found = load(Server(), sessions=2)
    assert found["contexts"] >= 5
    assert found["errors"] == {}
    assert found["c100"] == 1.0
    assert found["pause_ms"]["p50"] <= 0
    assert found["ttfa_ms"]["p50"] == found["first_packet_ms"]["p50"]


def test_what_still_speaks_at_the_end_is_cut_and_its_figures_kept():
    class Endless(Server):
        async def done(self, socket, ctx):
            """Never says so."""

    found = load(Endless(), sessions=1)
    assert found["outcomes"] == {"cut": 1}
    assert found["contexts"] == 1


def test_what_arrives_once_the_run_is_over_is_nobodys():
    session = Session(Options(), 0, 0.0)
    session.close()
    session.on_text(b'{"type": "error", "code": "unknown_context", "ctx": "load-0"}', 0.0)
    session.on_binary(bytes(16), 0.0)
    assert session.errors == {}


def test_an_llm_writes_in_small_pieces_and_the_text_arrives_whole():
    server = Server()
    found = load(server, sessions=1, text_mode="llm")
    assert found["seconds"] < 2  # though the text takes longer to write
    assert max(map(len, server.texts)) <= 5
    assert "".join(server.texts).startswith("The next ferry")


def test_refusals_are_counted_by_code_and_not_answered_with_a_flood():
    class Full(Server):
        async def on_message(self, socket, sids, message):
            if message["type"] != "open":
                await super().on_message(socket, {"load-1": 1} | sids, message)
            else:
                error = {"code": "overloaded", "retry_after_ms": 600, "fatal": False}
                await self.tell(socket, type="error", ctx=message["ctx"], **error)

        async def speak(self, socket, ctx, sid):
            """Nothing was opened."""

    found = load(Full(), sessions=1)
    assert found["contexts"] == 0
    assert 1 <= found["errors"]["overloaded"] <= 3
    assert found["refused"] == found["outcomes"]["refused"] == found["errors"]["overloaded"]
    assert 0 < found["refused_ms"]["p50"] < 500


def test_text_of_a_refused_context_that_was_on_its_way_is_no_error():
    class Full(Server):
        async def on_message(self, socket, sids, message):
            code = {"open": "overloaded", "hello": ""}.get(message["type"], "unknown_context")
            if code:
                error = {"code": code, "retry_after_ms": 600, "fatal": False}
                await self.tell(socket, type="error", ctx=message["ctx"], **error)
            else:
                await super().on_message(socket, sids, message)

    assert set(load(Full(), sessions=1)["errors"]) == {"overloaded"}


def test_who_is_refused_after_waiting_in_the_servers_queue_is_counted_with_that_time():
    class Waiting(Server):
        async def speak(self, socket, ctx, _sid):
            await asyncio.sleep(0.2)
            error = {"code": "overloaded", "retry_after_ms": 100, "fatal": True}
            await self.tell(socket, type="error", ctx=ctx, **error)

    found = load(Waiting(), sessions=1)
    assert found["refused"] >= 1
    assert found["refused_ms"]["p50"] >= 200


def test_a_lost_connection_is_counted_and_made_again():
    class Dropping(Server):
        async def done(self, socket, _ctx):
            socket.transport.abort()

    server = Dropping()
    found = load(server, sessions=1)
    assert found["errors"]["closed_1006"] >= 1
    assert server.connections >= 2
    assert found["outcomes"]["failed"] >= 1


def test_a_server_that_is_not_there_is_an_error_and_the_run_still_ends():
    with running(Server()) as url:
        pass
    chosen = Options(url=url, seconds=1.0)
    found = report.figures(chosen, worker.run(chosen, 0))
    assert found["errors"]["connect_ConnectionRefusedError"] >= 1


def test_holes_and_audio_after_the_end_are_errors():
    class Careless(Server):
        async def speak(self, socket, ctx, sid):
            await self.packet(socket, sid, 0)
            await self.packet(socket, sid, 2 * 3840)
            await self.done(socket, ctx)
            await self.packet(socket, sid, 3 * 3840)

    found = load(Careless(), sessions=1)
    assert found["errors"]["hole"] >= 1
    assert found["errors"]["audio_after_end"] >= 1


def test_barge_in_cancels_and_times_the_answer():
    class Cancellable(Server):
        async def on_message(self, socket, sids, message):
            if message["type"] == "cancel":
                await self.tell(socket, type="cancelled", ctx=message["ctx"], audio_sent_ms=80)
            else:
                await super().on_message(socket, sids, message)

        async def speak(self, socket, _ctx, sid):
            await self.packet(socket, sid, 0)

    found = load(Cancellable(), sessions=10, barge_in=1.0)
    assert found["outcomes"]["cancelled"] >= 1
    assert 0 <= found["cancel_ms"]["p50"] < 200


def test_random_arrivals_go_to_free_sessions_and_the_others_are_missed():
    found = load(Server(), sessions=1, arrivals="poisson", rate=30.0)
    assert found["contexts"] >= 2
    assert found["missed"] >= 5


@pytest.mark.parametrize("processes", [1, 2])
def test_the_command_prints_one_json_object(capsys, processes):
    with running(Server()) as url:
        arguments = ["--url", url, "--sessions", "2", "--seconds", "1", "--burst", "--json"]
        code = main([*arguments, "--codec", "pcm_s16le", "--processes", str(processes)])
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert code == 0
    assert found["sessions"] == 2
    assert found["server"]["rss_mib"] > 1
    assert found["client"]["cpu_cores"] > 0
    assert found["machine"]["cores"] >= 1
    assert "sentence 76" in printed.err


def test_without_json_it_prints_a_table(capsys):
    with running(Server()) as url:
        main(["--url", url, "--seconds", "0.5", "--codec", "pcm_s16le"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["sessions", "1"]
    assert any(line.startswith("C100") for line in lines)
