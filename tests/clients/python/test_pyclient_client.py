"""The async client over a real socket, on a good day."""

from __future__ import annotations

import asyncio
import inspect
import json

import pytest
from pyclient_fake import PACKETS, FakeServer, until

from cosystream import (
    Cancelled,
    Client,
    ClientClosed,
    ConnectionFailed,
    ContextFailed,
    Done,
    Flushed,
    MessageRefused,
    Opened,
    Packet,
    Refused,
    SegmentEvent,
    SessionEnded,
    WarningEvent,
)
from cosystream.options import OpenOptions, SessionOptions
from server import requests


async def speak(client: Client, *deltas: str, **options) -> list[Packet]:
    context = await client.open(**options)
    for delta in deltas:
        await context.send(delta)
    await context.end()
    return [packet async for packet in context]


async def test_text_goes_in_and_typed_packets_come_out():
    async with FakeServer() as server, Client(server.url) as client:
        packets = await speak(client, "Hello ", "there.")
        assert [packet.pts_samples_48k for packet in packets] == [0, 960, 1920]
        assert [packet.first for packet in packets] == [True, False, False]
        assert [packet.last for packet in packets] == [False, False, True]
        assert {len(packet.payload) for packet in packets} == {160}
        texts = server.messages("text")
        assert [(t["delta"], t["seq"]) for t in texts] == [("Hello ", 1), ("there.", 2)]


async def test_events_come_in_order_and_end_with_done():
    async with FakeServer() as server, Client(server.url, metadata={"call": 7}) as client:
        context = await client.open()
        await context.send("One.")
        flush_id = await context.flush()
        await context.end()
        events = [event async for event in context.events()]
        kinds = [type(event) for event in events]
        assert kinds == [Opened, SegmentEvent, *[Packet] * PACKETS, Flushed, Done]
        assert events[-2].id == flush_id
        assert events[-1].metadata == {"call": 7}
        assert await context.wait() is events[-1]


async def test_only_what_was_asked_for_is_sent_so_defaults_stay_the_servers():
    async with FakeServer() as server, Client(server.url, lead_ms=None, rate=16000) as client:
        await speak(client, "x", voice="anna", speed=1.5)
        (opening,) = server.messages("open")
        assert opening == {"type": "open", "ctx": "c-1", "voice": "anna", "speed": 1.5}
        hello = server.received[0]
        assert hello["pacing"] == {"lead_ms": None}
        assert hello["audio"] == {"codec": "opus", "rate": 16000, "frame_ms": 80}


def test_whatever_the_protocol_lets_one_ask_for_can_be_asked_for():
    here = inspect.signature(Client.open).parameters.keys() - {"self"}
    assert here == set(requests.Open.__struct_fields__)
    assert OpenOptions.__annotations__.keys() == here - {"ctx", "when"}
    session = inspect.signature(Client).parameters.keys()
    assert session >= set(requests.AudioRequest.__struct_fields__) - {"framing"}
    assert session >= {"lead_ms", "metadata", "traceparent"}
    assert session >= SessionOptions.__annotations__.keys()


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"GIF": "jif"}, [{"text": "GIF", "say": "jif"}]),
        ([{"text": "重庆", "pinyin": "chóng qìng"}], [{"text": "重庆", "pinyin": "chóng qìng"}]),
        ({"replace": [{"a": "b"}]}, {"replace": [{"a": "b"}]}),
        ({}, []),
    ],
)
async def test_a_lexicon_is_sent_in_a_form_of_the_protocol(given, sent):
    async with FakeServer() as server, Client(server.url) as client:
        await speak(client, "x", lexicon=given, reasoning="drop")
        (opening,) = server.messages("open")
        assert (opening["lexicon"], opening["reasoning"]) == (sent, "drop")


async def test_contexts_of_one_session_do_not_mix():
    async with FakeServer() as server, Client(server.url) as client:
        many = await asyncio.gather(*(speak(client, f"text {n}") for n in range(10)))
        for packets in many:
            assert len({packet.ctx for packet in packets}) == 1
            assert len({packet.payload[:2] for packet in packets}) == 1
            assert len(packets) == PACKETS


async def test_cancel_returns_what_was_spoken_and_nothing_comes_after_it():
    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        await context.send("Heard. ")
        await context.flush()
        await context.send("Not heard.")
        cancelled = await context.cancel(played_ms=20)
        assert isinstance(cancelled, Cancelled)
        assert (cancelled.text_spoken, cancelled.text_remaining) == ("Heard. ", "Not heard.")
        assert server.messages("cancel") == [{"type": "cancel", "ctx": context.id, "played_ms": 20}]
        assert [packet async for packet in context] == []
        assert await context.cancel() is cancelled


async def test_cancel_after_all_was_sent_returns_done():
    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        await context.send("All of it.")
        await context.end()
        assert isinstance(await context.cancel(), Done)
        assert not client._connection.session.contexts


async def test_cancel_all_stops_every_context():
    async with FakeServer() as server, Client(server.url) as client:
        contexts = [await client.open() for _ in range(3)]
        endings = await client.cancel_all()
        assert [ending.ctx for ending in endings] == [context.id for context in contexts]


async def test_text_after_end_or_cancel_is_refused_here_with_the_protocols_codes():
    async with FakeServer() as server, Client(server.url) as client:
        ended, cancelled = await client.open(), await client.open()
        await ended.end()
        with pytest.raises(MessageRefused, match="context_ended"):
            await ended.send("late")
        await cancelled.cancel()
        with pytest.raises(MessageRefused, match="context_gone"):
            await cancelled.send("late")
        with pytest.raises(ContextFailed) as failed:
            await cancelled.wait()
        assert failed.value.code == "cancelled"


async def test_a_refused_open_is_raised_by_whatever_is_done_next():
    async def refuse(session, message):
        await session.error("unknown_voice", ctx=message["ctx"])
        return True

    async with FakeServer(hooks={"open": refuse}) as server, Client(server.url) as client:
        context = await client.open(voice="nobody")
        with pytest.raises(ContextFailed) as failed:
            await context.opened()
        assert failed.value.code == "unknown_voice"
        assert not failed.value.retryable
        assert "protocol.md#9-errors" in str(failed.value)
        for use in (context.wait(), context.send("x"), context.end(), anext(aiter(context))):
            with pytest.raises(ContextFailed):
                await use


async def test_an_engine_restart_ends_the_context_and_is_marked_retryable_but_never_retried():
    async def die(session, message):
        await session.error("engine_restarted", ctx=message["ctx"], fatal=True)
        return True

    async with FakeServer(hooks={"end": die}) as server, Client(server.url) as client:
        context = await client.open()
        await context.send("half a")
        await context.flush()
        await context.end()
        packets = []
        with pytest.raises(ContextFailed) as failed:  # noqa: PT012 - what came before counts too
            async for packet in context:
                packets.append(packet)  # noqa: PERF401 - the error comes in the middle
        assert len(packets) == PACKETS
        assert failed.value.retryable
        assert len(server.messages("open")) == 1
        del server.hooks["end"]
        assert len(await speak(client, "again")) == PACKETS


async def test_a_refused_message_is_raised_once_and_the_context_goes_on():
    async def refuse(session, message):
        if message["delta"] == "too long":
            await session.error("text_too_long", ctx=message["ctx"])
        return False

    async with FakeServer(hooks={"text": refuse}) as server, Client(server.url) as client:
        context = await client.open()
        await context.opened()
        await context.send("too long")
        with pytest.raises(MessageRefused) as refused:
            await context.wait()
        assert refused.value.code == "text_too_long"
        await context.end()
        assert len([packet async for packet in context]) == PACKETS


async def test_after_a_refused_text_no_other_is_taken_and_the_gap_is_not_reported_again():
    async def refuse(session, message):
        code = "text_too_long" if message["seq"] == 1 else "text_gap"
        await session.error(code, ctx=message["ctx"])
        return True

    async with FakeServer(hooks={"text": refuse}) as server, Client(server.url) as client:
        context = await client.open()
        await context.opened()
        await context.send("x" * 20_000)
        with pytest.raises(MessageRefused, match="text_too_long"):
            await context.wait()
        await asyncio.sleep(0.02)
        with pytest.raises(MessageRefused, match="text_too_long"):
            await context.send("more")
        await context.end()
        assert isinstance(await context.wait(), Done)


async def test_warnings_are_events_and_in_the_log(caplog):
    async def warn(session, message):
        await session.event(
            type="warning", code="option_ignored", message="no", ctx=message["ctx"], option="x"
        )
        return False

    async with FakeServer(hooks={"end": warn}) as server, Client(server.url) as client:
        context = await client.open()
        await context.end()
        events = [event async for event in context.events()]
        (warning,) = [event for event in events if isinstance(event, WarningEvent)]
        assert (warning.code, warning.option) == ("option_ignored", "x")
        assert "option_ignored" in caplog.text


@pytest.mark.parametrize("before_hello", [True, False])
async def test_a_refused_session_says_why(before_hello):
    async with FakeServer() as server:
        server.refuse, server.refuse_before_hello = "unauthorized", before_hello
        with pytest.raises(Refused) as refused:
            async with Client(server.url, api_key="wrong"):
                pass
        assert (refused.value.code, refused.value.status) == ("unauthorized", 401)


async def test_key_token_and_origin_reach_the_server():
    access = {"api_key": "k", "token": "t", "origin": "https://a.example"}
    async with FakeServer() as server, Client(server.url, **access):
        headers = server.connections[0].request.headers
        assert headers["Authorization"] == "Bearer k"
        assert headers["Origin"] == "https://a.example"
        assert "token.t" in headers["Sec-WebSocket-Protocol"]


async def test_no_server_is_said_with_what_to_do(unused_tcp_port):
    with pytest.raises(ConnectionFailed, match="make serve") as failed:
        async with Client(f"http://127.0.0.1:{unused_tcp_port}"):
            pass
    assert failed.value.retryable


async def test_a_server_that_is_not_ours_is_said_to_be_so():
    async def hang_up(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    stranger = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with stranger:
        port = stranger.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionFailed, match=r"HTTP 404.*path prefix") as failed:
            async with Client(f"ws://127.0.0.1:{port}/tts"):
                pass
    assert not failed.value.retryable


async def test_a_server_that_never_answers_is_given_up():
    async def say_nothing(reader, writer):
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    async with silent:
        port = silent.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionFailed, match=r"in 0\.2 s"):
            async with Client(f"http://127.0.0.1:{port}", timeout_s=0.2):
                pass
        await asyncio.sleep(0.02)


async def test_closing_the_client_closes_with_1000_and_fails_what_is_open():
    async with FakeServer() as server:
        async with Client(server.url) as client:
            context = await client.open()
            await context.opened()
            waiting = asyncio.create_task(context.wait())
            await asyncio.sleep(0)
        with pytest.raises(ClientClosed):
            await waiting
        await until(lambda: server.close_codes == [1000])
        with pytest.raises(ClientClosed):
            await client.open()


async def test_no_task_is_left_behind():
    async with FakeServer() as server:
        before = asyncio.all_tasks()
        async with Client(server.url) as client:
            await speak(client, "x")
            await client.open()
        left = {task for task in asyncio.all_tasks() - before if "keeper" in task.get_name()}
        assert not left


async def test_a_fatal_error_of_the_connection_ends_its_contexts_and_the_next_open_begins_anew():
    async def idle(session, _message):
        await session.error("idle_timeout", fatal=True)
        await session.link.close(4008)
        return True

    async with FakeServer(hooks={"flush": idle}) as server, Client(server.url) as client:
        context = await client.open()
        await context.flush()
        with pytest.raises(SessionEnded) as ended:
            await context.wait()
        assert ended.value.code == "idle_timeout"
        assert len(await speak(client, "again")) == PACKETS
        assert len(server.sessions) == 2


async def test_feed_sends_what_a_source_gives_and_ends():
    async def llm():
        for delta in ("Hel", "lo ", "you."):
            await asyncio.sleep(0.001)
            yield delta

    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        context.feed(llm())
        assert len([packet async for packet in context]) == PACKETS
        assert "".join(message["delta"] for message in server.messages("text")) == "Hello you."


async def test_a_context_has_one_source():
    async def llm():
        yield "x"

    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        context.feed(llm())
        with pytest.raises(RuntimeError, match="source already"):
            context.feed(llm())
        await context.wait()


async def test_what_the_source_raises_cancels_and_reaches_the_reader():
    async def llm():
        yield "Hello"
        raise RuntimeError("model fell over")

    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        context.feed(llm())
        with pytest.raises(RuntimeError, match="fell over"):
            await context.wait()
        await until(lambda: server.messages("cancel"))
        assert len(server.messages("cancel")) == 1


async def test_cancelling_a_fed_context_closes_its_source():
    closed = asyncio.Event()

    async def llm():
        try:
            while True:
                yield "on and on. "
                await asyncio.sleep(0.001)
        finally:
            closed.set()

    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        context.feed(llm())
        await until(lambda: server.messages("text"))
        assert isinstance(await context.cancel(), Cancelled)
        await asyncio.wait_for(closed.wait(), 1)


async def test_long_text_is_sent_in_pieces_and_lone_surrogates_not_at_all():
    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        with pytest.raises(ValueError, match="not Unicode"):
            await context.send("a\ud800")
        await context.send("字" * 40_000)
        await context.end()
        await context.wait()
        deltas = [message["delta"] for message in server.messages("text")]
        assert [len(delta) for delta in deltas] == [8_192] * 4 + [40_000 - 4 * 8_192]


async def test_a_flush_id_under_way_and_a_context_id_in_use_are_refused():
    async def keep(_session, _message):
        return True

    async with FakeServer(hooks={"flush": keep}) as server, Client(server.url) as client:
        context = await client.open(ctx="a")
        assert await context.flush("mark") == "mark"
        with pytest.raises(ValueError, match="mark"):
            await context.flush("mark")
        with pytest.raises(ValueError, match="active"):
            await client.open(ctx="a")
        await context.cancel()
        assert (await client.open(ctx="a")).id == "a"


async def test_played_is_reported():
    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        await context.played(60)
        await context.cancel()
        await context.played(80)
        assert server.messages("played") == [{"type": "played", "ctx": context.id, "pts_ms": 60}]


async def test_a_drain_is_told_to_open_contexts():
    async def drain(session, _message):
        await session.plain(type="going_away", deadline_ms=5000)
        return False

    async with FakeServer(hooks={"end": drain}) as server, Client(server.url) as client:
        context = await client.open()
        await context.end()
        events = [event async for event in context.events()]
        assert [event.deadline_ms for event in events if hasattr(event, "deadline_ms")] == [5000]


async def test_hello_is_the_first_message_and_json():
    async with FakeServer() as server, Client(server.url):
        assert server.received[0]["type"] == "hello"
        assert json.dumps(server.received[0])
