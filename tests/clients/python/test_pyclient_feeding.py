"""A context that is fed from a source of text."""

from __future__ import annotations

import asyncio

import pytest
from pyclient_fake import PACKETS, FakeServer, until

from cosystream import (
    Cancelled,
    Client,
)


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
