"""What the client says of refusals, faults and servers that are none."""

from __future__ import annotations

import asyncio

import pytest
from pyclient_fake import PACKETS, FakeServer
from pyclient_speaking import speak

from cosystream import (
    Client,
    ConnectionFailed,
    ContextFailed,
    Done,
    MessageRefused,
    Refused,
    SessionEnded,
    WarningEvent,
)


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
