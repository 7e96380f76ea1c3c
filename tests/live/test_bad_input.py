"""Bad input: each kind is answered by its documented error, and nothing else is disturbed."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket

import pytest
from servers import LiveServer
from talk import Talk, talking
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

FAST = {"pacing": {"lead_ms": None}}

REFUSED = [
    ("not json", "bad_json"),
    ("", "bad_json"),
    ("[1, 2]", "bad_json"),
    ("3", "bad_json"),
    ("null", "bad_json"),
    ('"text"', "bad_json"),
    ('{"type": "text", "delta": NaN}', "bad_json"),
    ('{"type": "played", "pts_ms": Infinity}', "bad_json"),
    ('{"type": "text", "delta": "\\ud800"}', "bad_json"),
    ('{"type": "text", "delta": "a" "b"}', "bad_json"),
    ("[" * 100_000, "bad_json"),
    ("{}", "unknown_type"),
    ('{"type": null}', "unknown_type"),
    ('{"type": 3}', "unknown_type"),
    ('{"type": ["text"]}', "unknown_type"),
    ('{"type": "shout"}', "unknown_type"),
    ('{"type": "text"}', "invalid_value"),
    ('{"type": "text", "delta": 3}', "invalid_value"),
    ('{"type": "text", "delta": null}', "invalid_value"),
    ('{"type": "text", "delta": {"a": 1}}', "invalid_value"),
    ('{"type": "text", "delta": "x", "ctx": ""}', "invalid_value"),
    ('{"type": "text", "delta": "x", "ctx": 7}', "invalid_value"),
    ('{"type": "text", "delta": "x", "seq": -1}', "invalid_value"),
    ('{"type": "text", "delta": "x", "seq": 1.5}', "invalid_value"),
    ('{"type": "text", "delta": "x", "seq": 1e308}', "invalid_value"),
    ('{"type": "text", "delta": "x", "seq": 99999999999999999999999}', "invalid_value"),
    ('{"type": "open", "ctx": "a", "speed": 99}', "invalid_value"),
    ('{"type": "open", "ctx": "a", "speed": -1}', "invalid_value"),
    ('{"type": "open", "ctx": "a", "speed": "fast"}', "invalid_value"),
    ('{"type": "open", "ctx": "a", "speed": 1e999}', "bad_json"),
    ('{"type": "open", "ctx": "a", "seed": -5}', "invalid_value"),
    ('{"type": "open", "ctx": "a", "text_mode": "loud"}', "invalid_value"),
    ('{"type": "open", "ctx": "a", "when": "later"}', "invalid_value"),
    ('{"type": "open", "ctx": "a", "max_delay_ms": 1}', "invalid_value"),
    ('{"type": "open", "ctx": "a", "voice": "nobody"}', "unknown_voice"),
    ('{"type": "open", "ctx": "a", "voice": ""}', "unknown_voice"),
    ('{"type": "open", "ctx": "a", "voice": "../../etc/passwd"}', "unknown_voice"),
    ('{"type": "open", "ctx": "a", "voice": "heart\\u0000"}', "unknown_voice"),
    ('{"type": "text", "ctx": "never", "delta": "x"}', "unknown_context"),
    ('{"type": "flush", "ctx": "never"}', "unknown_context"),
    ('{"type": "end", "ctx": "never"}', "unknown_context"),
    ('{"type": "end"}', "unknown_context"),
    ('{"type": "flush"}', "unknown_context"),
    ('{"type": "cancel", "played_ms": -3}', "invalid_value"),
    ('{"type": "played", "pts_ms": -3}', "invalid_value"),
    ('{"type": "hello"}', "bad_state"),
]


@pytest.mark.parametrize(("message", "code"), REFUSED, ids=[m[:40] for m, _ in REFUSED])
async def test_it_is_refused_and_a_context_in_flight_goes_on(
    tone_server: LiveServer, message: str, code: str
) -> None:
    hello = {**FAST, "audio": {"codec": "pcm_s16le"}}
    async with talking(tone_server.ws_url, hello) as talk:
        await talk.send("open", ctx="other")
        await talk.send("text", ctx="other", delta="Some text that is being spoken.")
        await talk.raw(message)
        error = await talk.until("error")
        await talk.send("end", ctx="other")
        done = await talk.until("done")
    assert error["code"] == code
    assert error["fatal"] is False
    assert error["message"]
    assert set(error) >= {"status", "retryable", "retry_after_ms"}
    assert len(talk.events("error")) == 1
    assert len(talk.pcm()) - done["samples"] < 1920


@pytest.mark.parametrize(
    ("ctx", "told"), [("a", "a"), ("*", None), ("", None), (7, None), ("x" * 129, None)]
)
async def test_a_refusal_names_the_context_that_the_message_did(
    tone_server: LiveServer, ctx: object, told: str | None
) -> None:
    async with talking(tone_server.ws_url, FAST) as talk:
        await talk.send("open", ctx=ctx, speed=99)
        error = await talk.until("error")
    assert error["code"] == "invalid_value"
    assert error.get("ctx") == told


@pytest.mark.parametrize(
    ("audio", "names"),
    [
        ({"codec": "mp3"}, ("codec", "mp3", "opus", "pcm_s16le")),
        ({"codec": 3}, ("codec",)),
        ({"rate": 44100}, ("rate", "44100", "48000")),
        ({"rate": 0}, ("rate",)),
        ({"rate": -8000}, ("rate",)),
        ({"rate": "24000"}, ("rate",)),
        ({"frame_ms": 2.5}, ("frame_ms",)),
        ({"frame_ms": 25}, ("frame_ms", "20", "40", "60", "80")),
        ({"frame_ms": 0}, ("frame_ms",)),
        ({"frame_ms": -1}, ("frame_ms",)),
        ({"frame_ms": "20"}, ("frame_ms",)),
        ({"frame_ms": 1000}, ("frame_ms",)),
        ({"bitrate": 1}, ("bitrate",)),
        ({"framing": "loose"}, ("framing", "loose")),
    ],
)
async def test_an_impossible_format_names_what_is_possible_and_the_session_can_begin_after(
    live_server: LiveServer, audio: dict[str, object], names: tuple[str, ...]
) -> None:
    async with talking(live_server.ws_url) as talk:
        await talk.send("hello", audio=audio)
        error = await talk.until("error")
        await talk.send("hello", **FAST)
        await talk.until("ready")
        await talk.speak("It goes on.")
    assert error["code"] == "invalid_value"
    assert error["fatal"] is False
    assert all(name in error["message"] for name in names), error["message"]


@pytest.mark.parametrize("frame_ms", [20, 40, 60, 80])
async def test_every_documented_frame_length_works(live_server: LiveServer, frame_ms: int) -> None:
    async with talking(live_server.ws_url, {**FAST, "audio": {"frame_ms": frame_ms}}) as talk:
        await talk.speak("Hello.")
    gaps = {b.pts - a.pts for a, b in itertools.pairwise(talk.audio())}
    assert gaps == {frame_ms * 48}


@pytest.mark.parametrize("lead_ms", [-1, 60_001, 1e308, "soon"])
async def test_an_impossible_lead_is_refused(live_server: LiveServer, lead_ms: object) -> None:
    async with talking(live_server.ws_url) as talk:
        await talk.send("hello", pacing={"lead_ms": lead_ms})
        assert (await talk.until("error"))["code"] == "invalid_value"


async def test_another_protocol_version_is_refused(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url) as talk:
        await talk.send("hello", version=2)
        error = await talk.until("error")
    assert error["code"] == "invalid_value"
    assert "version" in error["message"]


async def test_an_unknown_field_is_told_and_the_rest_is_done(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {**FAST, "audio": {"stereo": True}}) as talk:
        await talk.send("open", ctx="a", loudness=11)
        await talk.send("text", ctx="a", delta="Hello.")
        await talk.send("end", ctx="a")
        await talk.until("done")
    fields = [warning["field"] for warning in talk.events("warning", code="unknown_field")]
    assert fields == ["audio.stereo", "loudness"]


async def test_text_flush_and_end_after_end_are_told(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, {}) as talk:
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta="Enough to speak for a while, I think.")
        await talk.send("end", ctx="a")
        await talk.send("text", ctx="a", delta="more")
        await talk.send("flush", ctx="a")
        await talk.send("end", ctx="a")
        done = await talk.until("done")
    assert [error["code"] for error in talk.events("error")] == ["context_ended"] * 3
    assert done["audio_ms"] > 1000


async def test_late_text_for_an_ended_context_is_told_and_wakes_nothing(
    tone_server: LiveServer,
) -> None:
    async with talking(tone_server.ws_url, {}) as talk:
        await talk.send("open", ctx="x")
        await talk.send("text", ctx="x", delta="To be cancelled in a moment, all of it.")
        await talk.until_audio()
        await talk.send("cancel", ctx="x")
        await talk.until("cancelled")
        for _ in range(3):
            await talk.send("text", ctx="x", delta="late")
        late = await talk.quiet(0.5)
    assert [item["code"] for item in late if isinstance(item, dict)] == ["context_gone"] * 3
    assert len(late) == 3


async def test_a_binary_message_is_told_and_ignored(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.raw(b"\x00\x01\x02")
        error = await talk.until("error")
        await talk.speak("It goes on.")
    assert error["code"] == "bad_request"


async def test_ten_megabytes_of_text_in_one_message_are_closed_with_the_limit_named(
    live_server: LiveServer,
) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        with contextlib.suppress(ConnectionClosed):  # in the middle of it, or when it is over
            await talk.send("text", delta="a" * 10_000_000)
        with pytest.raises(ConnectionClosed) as closed:
            await talk.until("done")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
    assert "1048576" in closed.value.rcvd.reason


async def test_ten_megabytes_in_many_messages_are_refused_delta_by_delta(
    tone_server: LiveServer,
) -> None:
    async with talking(tone_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", text_mode="manual")
        for _ in range(20):
            await talk.send("text", ctx="a", delta="a" * 500_000)
        for _ in range(20):
            error = await talk.until("error")
            assert error["code"] == "text_too_long"
        await talk.send("text", ctx="a", delta="Short.")
        await talk.send("end", ctx="a")
        await talk.until("done")
    assert [segment["text"] for segment in talk.events("segment")] == ["Short."]


async def test_text_with_control_characters_is_spoken(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        done = await talk.speak("Hel\u0000lo \u0007there\u200b, \ufefffriend\u202e.")
    assert done["audio_ms"] > 300


async def test_bad_utf8_closes_with_1007(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        talk.socket.transport.write(
            Frame(Opcode.TEXT, b'{"type": "text", "delta": "\xff\xfe"}').serialize(mask=True)
        )
        with pytest.raises(ConnectionClosed) as closed:
            await talk.until("done")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1007


async def test_a_fragmented_message_is_read_as_one(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        whole = json.dumps({"type": "text", "delta": "Hello, in pieces."})
        await talk.socket.send([whole[:7], whole[7:20], whole[20:]])
        await talk.send("end")
        done = await talk.until("done")
    assert done["audio_ms"] > 300


async def test_fragments_that_add_up_to_too_much_are_closed(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        with contextlib.suppress(ConnectionClosed):
            await talk.socket.send(["a" * 300_000] * 10)
        with pytest.raises(ConnectionClosed) as closed:
            await talk.until("done")
    # A socket that is closed while it is still written to may lose the frame that says why.
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


async def test_a_wrong_subprotocol_is_told_in_words_then_closed(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, subprotocols=["graphql-ws"]) as talk:
        error = await talk.until("error")
        with pytest.raises(ConnectionClosed) as closed:
            await talk.next()
    assert error["code"] == "bad_subprotocol"
    assert error["fatal"] is True
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4000


async def test_the_right_subprotocol_is_chosen(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}, subprotocols=["x", "cosystream.v1"]) as talk:
        assert talk.socket.subprotocol == "cosystream.v1"


async def test_compression_is_declined(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}, compression="deflate") as talk:
        assert not talk.socket.protocol.extensions


async def test_more_contexts_than_the_limit_are_refused(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, {}) as talk:
        for number in range(17):
            await talk.send("open", ctx=f"c{number}")
        error = await talk.until("error")
        await talk.send("cancel", ctx="*")
        for _ in range(16):
            await talk.until("cancelled")
    assert error["code"] == "too_many_contexts"
    assert error["ctx"] == "c16"
    assert "16" in error["message"]


async def test_too_many_sessions_are_told_then_closed_with_1013(start_server) -> None:
    server = start_server(engine__runner="tone", limits__sessions=2)
    async with (
        talking(server.ws_url, {}),
        talking(server.ws_url, {}),
        talking(server.ws_url) as third,
    ):
        await third.send("text", delta="Hello")
        error = await third.until("error")
        with pytest.raises(ConnectionClosed) as closed:
            await third.next()
    assert error["code"] == "too_many_sessions"
    assert error["retryable"] is True
    assert error["retry_after_ms"] > 0
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1013


async def test_a_flood_of_opens_is_rate_limited(start_server) -> None:
    server = start_server(engine__runner="tone", limits__opens_per_minute=5)
    async with talking(server.ws_url, {}) as talk:
        for number in range(6):
            await talk.send("open", ctx=f"c{number}")
        error = await talk.until("error")
    assert error["code"] == "rate_limited"
    assert 0 < error["retry_after_ms"] <= 60_000


async def test_a_flood_of_messages_is_read_more_slowly_and_nothing_is_lost(start_server) -> None:
    server = start_server(engine__runner="tone", limits__messages_per_s=200)
    async with talking(server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", text_mode="manual")
        text = "abcdefghi " * 30
        for character in text:
            await talk.send("text", ctx="a", delta=character)
        await talk.send("end", ctx="a")
        await talk.until("done")
    assert "".join(segment["text"] for segment in talk.events("segment")) == text
    assert not talk.events("error")


async def test_garbage_instead_of_http_disturbs_nobody(live_server: LiveServer) -> None:
    port = int(live_server.url.rsplit(":", 1)[1])
    async with talking(live_server.ws_url, FAST) as talk:
        with socket.create_connection(("127.0.0.1", port)) as raw:
            raw.sendall(b"\x16\x03\x01\x02\x00 not http at all \r\n\r\n")
            await talk.speak("Still here.")


async def test_many_bad_clients_at_once_disturb_nobody(tone_server: LiveServer) -> None:
    async def bad(number: int) -> None:
        async with talking(tone_server.ws_url) as talk:
            for message, _ in REFUSED[number % 7 :: 7]:
                await talk.raw(message)
            await talk.quiet(0.2)

    async def good() -> Talk:
        async with talking(tone_server.ws_url, {"audio": {"codec": "pcm_s16le"}}) as talk:
            await talk.speak("A calm sentence amid the noise.")
            return talk

    *_, talk = await asyncio.gather(*(bad(n) for n in range(20)), good())
    assert len(talk.pcm()) - talk.events("done")[0]["samples"] < 1920
