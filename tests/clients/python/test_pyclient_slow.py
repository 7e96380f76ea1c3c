"""A context whose packets nobody takes, and the others beside it."""

from __future__ import annotations

import asyncio

import pytest
from pyclient_fake import PACKETS, FakeServer, payload_of, until

from cosystream import Client, ConsumerTooSlow

MANY = 100


async def flood(session, message):
    context = session.contexts[message["ctx"]]
    for _ in range(MANY):
        await session.audio(context, payload_of(context, context.packets))
    return True


async def test_a_context_nobody_reads_is_cancelled_and_the_others_go_on():
    server = FakeServer(hooks={"flush": flood})
    async with server, Client(server.url, buffer_bytes=2_000, stall_s=0.1) as client:
        deaf, other = await client.open(), await client.open()
        await deaf.flush()
        await other.send("x")
        await other.end()
        assert len([packet async for packet in other]) == PACKETS
        with pytest.raises(ConsumerTooSlow) as slow:
            await deaf.wait()
        assert slow.value.ctx == deaf.id
        await until(lambda: server.messages("cancel"))
        assert [message["ctx"] for message in server.messages("cancel")] == [deaf.id]
        with pytest.raises(ConsumerTooSlow):
            await anext(aiter(deaf))


async def test_its_memory_is_free_then():
    server = FakeServer(hooks={"flush": flood})
    async with server, Client(server.url, buffer_bytes=2_000, stall_s=0.05) as client:
        deaf = await client.open()
        await deaf.flush()
        with pytest.raises(ConsumerTooSlow):
            await deaf.wait()
        assert deaf.inbox._bytes == 0
        await until(lambda: not server.session.contexts)
        await until(lambda: not client._connection.session.contexts)


async def test_a_reader_that_is_slow_but_steady_holds_the_socket_back_and_loses_nothing():
    server = FakeServer(hooks={"flush": flood})
    async with server, Client(server.url, buffer_bytes=2_000, stall_s=0.5) as client:
        context = await client.open()
        await context.flush()
        numbers = []
        async for packet in context:
            numbers.append(int.from_bytes(packet.payload[2:4], "big"))
            assert context.inbox._bytes < 4_000
            if len(numbers) == MANY:
                break
            await asyncio.sleep(0.002)
        assert numbers == list(range(MANY))


async def test_what_is_not_read_before_the_end_can_be_read_after_it():
    async with FakeServer() as server, Client(server.url) as client:
        context = await client.open()
        await context.send("x")
        await context.end()
        await context.wait()
        assert len([packet async for packet in context]) == PACKETS
