"""Connections that break at every message, in both directions, and what a listener notices."""

from __future__ import annotations

import asyncio

import pytest
from pyclient_fake import PACKETS, FakeServer, payload_of, until

from cosystream import (
    Backoff,
    Client,
    ConnectionLost,
    ContextFailed,
    Done,
    Flushed,
    MessageRefused,
    Packet,
    ProtocolViolation,
    SegmentEvent,
    SessionEnded,
)

FAST = Backoff(first_s=0.001, max_s=0.01)

MESSAGES_SENT = 1 + 2 * (1 + 2 * (1 + PACKETS) + 1 + 1)
"""By the server in ``talk``: ready, then twice opened, two segments, flushed, done (the last)."""

MESSAGES_RECEIVED = 1 + 2 * 6
"""From the client in ``talk``: hello, then twice open, text, flush, text, text, end."""


async def converse(client: Client, ctx: str) -> list:
    context = await client.open(ctx=ctx)
    await context.send("One. ")
    await context.flush("mark")
    await context.send("Two")
    await context.send(" three.")
    await context.end()
    return [event async for event in context.events()]


async def talk(server: FakeServer) -> dict[str, list]:
    async with Client(server.url, backoff=FAST) as client:
        both = await asyncio.gather(converse(client, "a"), converse(client, "b"))
        assert not client._connection.session.contexts
    return dict(zip("ab", both, strict=True))


def assert_nothing_lost_or_repeated(server: FakeServer, told: dict[str, list]) -> None:
    assert len(server.sessions) == 1
    for ctx, events in told.items():
        packets = [event for event in events if isinstance(event, Packet)]
        sid = int.from_bytes(packets[0].payload[:2], "big")
        numbers = [int.from_bytes(packet.payload[2:4], "big") for packet in packets]
        assert numbers == list(range(2 * PACKETS)), ctx
        assert {int.from_bytes(packet.payload[:2], "big") for packet in packets} == {sid}
        segments = [event.text for event in events if isinstance(event, SegmentEvent)]
        assert segments == ["One. ", "Two three."]
        assert [event.id for event in events if isinstance(event, Flushed)] == ["mark"]
        assert isinstance(events[-1], Done)
        assert sum(isinstance(event, Done) for event in events) == 1


@pytest.mark.parametrize("index", range(1, MESSAGES_SENT))
async def test_a_connection_that_breaks_after_any_message_of_the_server_shows_nothing(index):
    async with FakeServer(drops_sent=(index,)) as server:
        told = await asyncio.wait_for(talk(server), 10)
        assert_nothing_lost_or_repeated(server, told)
        assert len(server.connections) == 2


@pytest.mark.parametrize("index", range(2, MESSAGES_RECEIVED + 1))
async def test_a_connection_that_breaks_before_any_message_of_the_client_shows_nothing(index):
    async with FakeServer(drops_received=(index,)) as server:
        told = await asyncio.wait_for(talk(server), 10)
        assert_nothing_lost_or_repeated(server, told)
        assert len(server.connections) == 2


@pytest.mark.parametrize("stride", [2, 3, 5])
async def test_a_connection_that_breaks_again_and_again_shows_nothing(stride):
    async with FakeServer(drops_sent=tuple(range(stride, 60, stride))) as server:
        told = await asyncio.wait_for(talk(server), 20)
        assert_nothing_lost_or_repeated(server, told)
        assert len(server.connections) > 3


async def test_packets_sent_again_are_marked_and_text_is_resent_from_the_next_number():
    async with FakeServer(drops_received=(4,)) as server:
        async with Client(server.url, backoff=FAST) as client:
            context = await client.open()
            await context.send("first ")
            await until(lambda: server.messages("text") and context.acknowledged)
            await context.send("second")
            await context.end()
            packets = [packet async for packet in context]
        assert len(packets) == PACKETS
        numbers = [message["seq"] for message in server.messages("text")]
        assert numbers == [1, 2, 2]
        assert server.messages("hello")[1]["resume"] == {
            "session": "s-1",
            "token": "secret",
            "last_seq": 1,
        }


async def test_sending_waits_for_the_resume_and_then_goes_on():
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        await context.opened()
        server.connections[0].transport.abort()
        for word in ("a ", "b ", "c "):
            await context.send(word)
        await context.end()
        (segment,) = [e async for e in context.events() if isinstance(e, SegmentEvent)]
        assert segment.text == "a b c "


async def test_a_cancel_that_was_lost_is_sent_again():
    async with FakeServer(drops_received=(4,)) as server:
        async with Client(server.url, backoff=FAST) as client:
            context = await client.open()
            await context.send("never mind")
            cancelled = await asyncio.wait_for(context.cancel(), 5)
        assert cancelled.text_remaining == "never mind"


async def test_a_context_whose_end_was_lost_with_all_its_answers_is_not_spoken_twice():
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        link, server.session.link = server.session.link, None  # nothing gets through any more
        await context.send("Once.")
        await context.end()
        await until(lambda: not server.session.contexts and server.messages("end"))
        link.transport.abort()
        packets = [packet async for packet in context]
        assert [packet.resumed for packet in packets] == [True] * PACKETS
        assert len(server.messages("open")) == 1


async def test_a_server_that_forgot_the_session_fails_what_was_open_and_takes_new_contexts():
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        await context.opened()
        server.forget_sessions = True
        server.connections[0].transport.abort()
        with pytest.raises(ConnectionLost) as lost:
            await context.wait()
        assert lost.value.retryable
        again = await client.open()
        await again.send("x")
        await again.end()
        assert len([packet async for packet in again]) == PACKETS
        assert client.ready.session == "s-2"


async def test_after_the_resume_window_open_contexts_fail_and_waiting_senders_are_let_go():
    fake = FakeServer(resume_window_s=0.2)
    async with fake as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        await context.opened()
        await server.stop_listening()
        sending = asyncio.create_task(context.send("into the void"))
        with pytest.raises(ConnectionLost, match=r"0\.2 s"):
            await asyncio.wait_for(context.wait(), 3)
        await asyncio.wait_for(asyncio.wait([sending]), 1)
        with pytest.raises(ConnectionLost):
            await context.send("more")


async def test_a_context_the_server_lost_fails_instead_of_waiting_for_ever():
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        await context.opened()
        server.session.contexts.clear()
        server.connections[0].transport.abort()
        with pytest.raises(ContextFailed, match="lost it"):
            await asyncio.wait_for(context.wait(), 3)


async def test_a_connection_closed_on_purpose_is_not_resumed():
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        await context.opened()
        await server.connections[0].close(1001)
        with pytest.raises(SessionEnded, match="1001"):
            await context.wait()
        assert len(server.connections) == 1


async def test_a_hole_in_the_numbers_is_asked_for_again():
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        await context.opened()
        link, server.session.link = server.session.link, None
        await server.session.event(type="queued", ctx=context.id, position=1)  # gets lost
        server.session.link = link
        await context.send("x")
        await context.end()
        events = [event async for event in context.events()]
        assert isinstance(events[-1], Done)
        assert len(server.connections) == 2


async def test_a_hole_that_stays_is_a_violation():
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        await context.opened()
        server.session.sent.append((99, '{"type":"done","ctx":"c-1","seq":99}'))
        await server.session.event(type="queued", ctx=context.id, position=1)
        with pytest.raises(ProtocolViolation, match="again after a resume"):
            await asyncio.wait_for(context.wait(), 3)


@pytest.mark.parametrize(
    "message",
    [
        b"\x21\x00\x00\x01",
        b"short",
        "not json",
        "[]",
        '{"no": "type"}',
        '{"type": "opened"}',
        '{"type": "queued", "seq": "2"}',
    ],
)
async def test_what_is_not_the_protocol_ends_the_session_with_an_error(message):
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        context = await client.open()
        await context.opened()
        await server.send(server.connections[0], message)
        with pytest.raises(ProtocolViolation):
            await asyncio.wait_for(context.wait(), 3)


async def test_closing_while_it_connects_again_leaves_no_connection():
    async with FakeServer() as server:
        client = Client(server.url, backoff=Backoff(first_s=0.02))
        await client.__aenter__()
        server.connections[0].transport.abort()
        await asyncio.sleep(0.015)
        await client.close()
        await until(lambda: len(server.close_codes) == len(server.connections))


async def test_types_and_fields_of_a_newer_server_are_passed_over():
    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        await context.opened()
        await server.session.event(type="emotion", ctx=context.id, mood="glad")
        await server.session.event(type="queued", ctx=context.id, position=0, shiny=True)
        await context.end()
        assert isinstance(await context.wait(), Done)


async def test_an_idle_client_that_lost_its_connection_is_connected_again_at_once():
    async with FakeServer() as server, Client(server.url, backoff=FAST) as client:
        server.connections[0].transport.abort()
        await until(lambda: len(server.connections) == 2)
        context = await client.open()
        await context.send("x")
        await context.end()
        assert (await context.wait()).samples
        with pytest.raises(MessageRefused):
            await context.send("y")


def test_the_fakes_payloads_are_all_different():
    class Any:
        sid = 1

    assert len({payload_of(Any, number) for number in range(100)}) == 100
