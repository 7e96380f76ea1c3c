"""The client against a server of the tests: text goes in, packets and events come out."""

from __future__ import annotations

import asyncio
import inspect
import json

import pytest
from pyclient_fake import PACKETS, FakeServer, until
from pyclient_speaking import speak

from cosystream import (
    Cancelled,
    Client,
    ClientClosed,
    Done,
    Flushed,
    Opened,
    Packet,
    SegmentEvent,
)
from cosystream.options import OpenOptions, SessionOptions
from server import requests


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


async def test_key_token_and_origin_reach_the_server():
    access = {"api_key": "k", "token": "t", "origin": "https://a.example"}
    async with FakeServer() as server, Client(server.url, **access):
        headers = server.connections[0].request.headers
        assert headers["Authorization"] == "Bearer k"
        assert headers["Origin"] == "https://a.example"
        assert "token.t" in headers["Sec-WebSocket-Protocol"]


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
