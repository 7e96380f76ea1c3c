"""Resume: a dropped connection costs the client nothing, and the server no work meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import psutil
import pytest
from servers import LiveServer
from talk import Audio, Event, Talk, eventually, talking
from websockets.exceptions import ConnectionClosed

HELLO = {"audio": {"codec": "pcm_s16le"}}
TEXT = "This is one. Two is here. The last."


def _drop(talk: Talk) -> None:
    """As a network does it: no close frame, no goodbye."""
    talk.socket.transport.abort()


def _resume(talk: Talk) -> dict[str, Any]:
    ready = talk.events("ready")[0]
    numbered = [item.seq if isinstance(item, Audio) else item.get("seq", 0) for item in talk.got]
    return {
        "resume": {
            "session": ready["session"],
            "token": ready["resume_token"],
            "last_seq": max(numbered),
        }
    }


def _numbers(items: list[Event | Audio]) -> list[int]:
    return [
        item.seq if isinstance(item, Audio) else item["seq"]
        for item in items
        if isinstance(item, Audio) or "seq" in item
    ]


@pytest.mark.parametrize("after_packets", [1, 3, 8])
async def test_a_drop_in_mid_utterance_loses_and_repeats_nothing(
    tone_server: LiveServer, after_packets: int
) -> None:
    async with talking(tone_server.ws_url, HELLO) as whole:
        await whole.speak(TEXT, ctx="a", levels=True, timestamps=True)

    async with talking(tone_server.ws_url, HELLO) as one:
        await one.send("open", ctx="a", levels=True, timestamps=True)
        await one.send("text", ctx="a", delta=TEXT)
        await one.send("end", ctx="a")
        for _ in range(after_packets):
            await one.until_audio()
        _drop(one)
    await asyncio.sleep(0.3)
    async with talking(tone_server.ws_url, _resume(one)) as two:
        await two.until("done")
    ready = two.events("ready")[0]
    assert ready["resumed"] is True
    together = one.got + two.got
    assert _numbers(together) == list(range(1, len(_numbers(together)) + 1))
    assert np.array_equal(np.concatenate([one.pcm(), two.pcm()]), whole.pcm())
    for kind in ("segment", "words", "levels"):
        assert len(one.events(kind) + two.events(kind)) == len(whole.events(kind))


async def test_messages_sent_but_not_received_come_again_and_say_so(
    tone_server: LiveServer,
) -> None:
    async with talking(tone_server.ws_url, HELLO) as one:
        await one.send("text", delta=TEXT)
        await one.send("end")
        await one.until_audio()
        before = _resume(one)
        await one.quiet(0.5)
        _drop(one)
    async with talking(tone_server.ws_url, before) as two:
        await two.until("done")
    assert any(packet.resent for packet in two.audio())
    assert not two.audio()[-1].resent
    assert _numbers(two.got)[0] == before["resume"]["last_seq"] + 1


async def test_text_goes_on_after_a_drop_from_the_number_the_server_names(
    tone_server: LiveServer,
) -> None:
    async with talking(tone_server.ws_url, HELLO) as one:
        await one.send("open", ctx="a")
        await one.send("text", ctx="a", delta="One two three. ", seq=1)
        await one.until_audio()
        await one.send("text", ctx="a", delta="Four five. ", seq=2)
        _drop(one)
    await asyncio.sleep(0.1)
    async with talking(tone_server.ws_url, _resume(one)) as two:
        (context,) = two.events("ready")[0]["contexts"]
        assert context["ctx"] == "a"
        assert context["text_seq"] in {1, 2}
        for seq, delta in ((1, "One two three. "), (2, "Four five. "), (3, "Six.")):
            await two.send("text", ctx="a", delta=delta, seq=seq)
        await two.send("end", ctx="a")
        await two.until("done")
    segments = one.events("segment") + two.events("segment")
    assert "".join(segment["text"] for segment in segments) == "One two three. Four five. Six."


async def test_no_device_work_while_the_client_is_away(start_server) -> None:
    server = start_server(engine__runner="tone", engine__max_ahead_s=1000)
    async with talking(server.ws_url, HELLO) as talk:
        await talk.send("text", delta="A slow sentence [[sleep:0.05]] of many words. " * 200)
        await talk.until_audio()
        _drop(talk)
    await eventually(lambda: server.metric("parked_sessions") == 1)
    await asyncio.sleep(1.3)
    busy_s = server.metric("engine_busy_seconds")
    await asyncio.sleep(1.5)
    assert server.metric("engine_busy_seconds") - busy_s < 0.1


async def test_after_the_window_the_work_is_cancelled(start_server) -> None:
    server = start_server(engine__runner="tone", limits__resume_window_s=0.5)
    async with talking(server.ws_url, HELLO) as one:
        await one.send("text", delta=TEXT)
        await one.until_audio()
        _drop(one)
    await eventually(lambda: server.metric("parked_sessions") == 0)
    assert server.metric("contexts") == 0
    async with talking(server.ws_url) as two:
        await two.send("hello", **_resume(one))
        error = await two.until("error")
        ready = await two.until("ready")
        await two.speak("A new session.")
    assert error["code"] == "resume_unknown"
    assert error["fatal"] is False
    assert ready["resumed"] is False


async def test_a_stranger_with_a_wrong_token_gets_a_session_of_his_own(
    tone_server: LiveServer,
) -> None:
    async with talking(tone_server.ws_url, HELLO) as one:
        await one.send("text", delta=TEXT)
        await one.until_audio()
        resume = _resume(one)
        resume["resume"]["token"] = "guess"
        async with talking(tone_server.ws_url) as two:
            await two.send("hello", **resume)
            assert (await two.until("error"))["code"] == "resume_unknown"
            ready = await two.until("ready")
            assert ready["session"] != resume["resume"]["session"]
            assert not await two.quiet(0.5)
        await one.until_audio()


async def test_asking_for_what_was_never_sent_is_unknown(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, HELLO) as one:
        await one.send("text", delta=TEXT)
        await one.until_audio()
        _drop(one)
    resume = _resume(one)
    resume["resume"]["last_seq"] = 100_000
    async with talking(tone_server.ws_url) as two:
        await two.send("hello", **resume)
        assert (await two.until("error"))["code"] == "resume_unknown"


async def test_a_half_open_connection_is_taken_over(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, HELLO) as one:
        await one.send("text", delta=TEXT)
        await one.send("end")
        await one.until_audio()
        resume = _resume(one)
        async with talking(tone_server.ws_url, resume) as two:
            with pytest.raises(ConnectionClosed) as closed:
                await one.until("done")
            await two.until("done")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4010
    assert one.events("error")[0]["code"] == "resumed_elsewhere"


async def test_a_new_session_hears_nothing_of_a_dropped_one(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, HELLO) as one:
        await one.send("text", delta=TEXT)
        await one.until_audio()
        _drop(one)
    async with talking(tone_server.ws_url, HELLO) as two:
        assert not await two.quiet(1.0)


async def test_resuming_again_and_again_still_loses_nothing(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, HELLO) as whole:
        await whole.speak(TEXT, ctx="a")
    got: list[Event | Audio] = []
    async with talking(tone_server.ws_url, HELLO) as talk:
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta=TEXT)
        await talk.send("end", ctx="a")
        await talk.until_audio()
        _drop(talk)
    for _ in range(6):
        got += talk.got
        resume = _resume(talk)
        resume["resume"]["session"] = got[0]["session"]  # type: ignore[index]
        async with talking(tone_server.ws_url, resume) as talk:
            await talk.until_audio()
            await talk.until_audio()
            _drop(talk)
    got += talk.got
    async with talking(tone_server.ws_url, _resume(talk)) as talk:
        await talk.until("done")
    got += talk.got
    assert _numbers(got) == list(range(1, len(_numbers(got)) + 1))
    joined = b"".join(item.payload for item in got if isinstance(item, Audio))
    assert joined == whole.pcm().tobytes()


async def test_one_that_was_resumed_goes_on_past_the_window(start_server) -> None:
    server = start_server(engine__runner="tone", limits__resume_window_s=1)
    async with talking(server.ws_url, HELLO) as one:
        await one.send("text", delta=TEXT)
        await one.until_audio()
        _drop(one)
    await asyncio.sleep(0.3)
    async with talking(server.ws_url, _resume(one)) as two:
        await two.quiet(1.5)
        await two.send("end")
        await two.until("done")


async def test_asked_for_too_much_the_connection_it_had_is_closed_too(
    tone_server: LiveServer,
) -> None:
    async with talking(tone_server.ws_url, HELLO) as one:
        await one.send("text", delta=TEXT)
        await one.until_audio()
        resume = _resume(one)
        resume["resume"]["last_seq"] = 100_000
        async with talking(tone_server.ws_url, resume) as two:
            with pytest.raises(ConnectionClosed) as closed:
                await one.until("done")
            await two.speak("A new session.")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4010


async def test_messages_behind_a_takeover_are_void(start_server) -> None:
    server = start_server(engine__runner="tone", limits__messages_per_s=20)
    async with talking(server.ws_url, HELLO, max_queue=None) as one:
        messages = [b'{"type": "ping"}'] * 40 + [b'{"type": "open", "ctx": "late"}']
        frames = [bytes([0x81, 0x80 | len(text)]) + bytes(4) + text for text in messages]
        one.socket.transport.write(b"".join(frames))  # in one piece: all are read at once
        await one.until("pong")
        async with talking(server.ws_url, _resume(one)) as two:
            await asyncio.sleep(1.5)
            await two.send("open", ctx="late")
            assert not two.events("ready")[0]["contexts"]
            assert (await two.until("opened"))["ctx"] == "late"
            await two.send("ping")
            await two.until("pong")
            assert not two.events("error")


async def test_an_old_connection_that_takes_nothing_is_dropped_at_once(start_server) -> None:
    server = start_server(engine__runner="tone", limits__slow_consumer_s=60, drain_s=1)
    hello = {"audio": {"codec": "pcm_s16le", "rate": 48000}, "pacing": {"lead_ms": None}}
    sockets = psutil.Process(server.process.pid).net_connections
    impatient = {"close_timeout": 0.1}  # nothing is read of what waits on either connection
    async with talking(server.ws_url, hello, max_queue=1, **impatient) as one:
        resume = _resume(one)
        await one.send("text", delta="Much more than a socket holds is said here. " * 60)
        await eventually(lambda: server.metric("packets_total") > 20)
        await asyncio.sleep(0.5)
        port = one.socket.local_address[1]
        async with talking(server.ws_url, resume, **impatient):
            await eventually(lambda: not [c for c in sockets() if c.raddr and c.raddr.port == port])
