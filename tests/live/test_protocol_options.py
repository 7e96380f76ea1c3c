"""What a context can be asked for, and what is said where a voice cannot do it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from protocol_rig import FAST, PCM
from servers import LiveServer
from talk import decode_opus, talking


async def test_the_same_seed_gives_the_same_audio(live_server: LiveServer) -> None:
    async def once(seed: int) -> bytes:
        async with talking(live_server.ws_url, PCM) as talk:
            await talk.speak("The same words again.", ctx="a", seed=seed)
            return talk.pcm().tobytes()

    first, again, other = await once(3), await once(3), await once(4)
    assert first == again
    assert first != other


async def test_speed_shortens_the_audio(live_server: LiveServer) -> None:
    lengths = {}
    async with talking(live_server.ws_url, PCM) as talk:
        for speed in (0.5, 1.0, 2.0):
            done = await talk.speak("A sentence to be spoken faster.", ctx=f"{speed}", speed=speed)
            lengths[speed] = done["audio_ms"]
    assert lengths[0.5] > 1.5 * lengths[1.0]
    assert lengths[2.0] < 0.75 * lengths[1.0]


async def test_an_option_the_voice_cannot_honour_is_told(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.speak("Hello.", ctx="a", instruct="whisper it")
    (warning,) = talk.events("warning")
    assert (warning["code"], warning["option"], warning["ctx"]) == (
        "option_ignored",
        "instruct",
        "a",
    )


async def test_a_voice_that_takes_whole_segments_alone_says_so_and_speaks(
    live_server: LiveServer,
) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        done = await talk.speak("Hello there. And you?", ctx="a", text_mode="interleaved")
    (warning,) = talk.events("warning")
    assert (warning["code"], warning["option"]) == ("option_ignored", "text_mode")
    assert "'auto'" in warning["message"]
    assert done["samples"] > 0
    assert [each["index"] for each in talk.events("segment")] == [0, 1]


async def test_text_the_voice_cannot_speak_is_told_after_what_it_could(
    live_server: LiveServer,
) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", voice="heart")
        await talk.send("text", ctx="a", delta="This much is English. 这是中文。")
        await talk.send("end", ctx="a")
        error = await talk.until("error")
        spoken = len(talk.audio())
        await talk.speak("And it goes on.", ctx="b")
    assert error["code"] == "unsupported_language"
    assert error["fatal"] is True
    assert error["ctx"] == "a"
    assert spoken > 5
    assert not talk.events("done", ctx="a")


async def test_a_language_the_voice_lacks_is_refused_at_open(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", language="ja")
        error = await talk.until("error")
        await talk.speak("Still here.", ctx="a")
    assert error["code"] == "unsupported_language"
    assert error["fatal"] is False


@pytest.mark.parametrize("framing", ["bare", "xiaozhi2", "xiaozhi3"])
async def test_other_framings_carry_the_same_packets(live_server: LiveServer, framing: str) -> None:
    async def payloads(name: str) -> list[bytes]:
        audio = {"framing": name, "frame_ms": 60}
        found = []
        async with talking(live_server.ws_url) as talk:
            await talk.send("hello", audio=audio, pacing={"lead_ms": None})
            await talk.send("text", delta="Hello there.")
            await talk.send("end")
            while True:
                message = await talk.socket.recv()
                if isinstance(message, bytes):
                    found.append(message)
                elif json.loads(message)["type"] == "done":
                    return found

    header_bytes = {"bare": 0, "xiaozhi2": 16, "xiaozhi3": 4}[framing]
    framed = await payloads(framing)
    assert [p[header_bytes:] for p in framed] == [p[16:] for p in await payloads("header")]
    if framing == "xiaozhi3":
        assert all(int.from_bytes(p[2:4], "big") == len(p) - 4 for p in framed)
    if framing == "xiaozhi2":
        assert [int.from_bytes(p[8:12], "big") for p in framed[:3]] == [0, 60, 120]


async def test_opus_decodes_to_the_length_that_is_told(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        done = await talk.speak("A sentence of some length to be decoded.")
    decoded = decode_opus(talk.audio())
    assert done["samples"] * 2 <= len(decoded) <= done["samples"] * 2 + 3840
    assert np.abs(decoded).max() > 0.1
