"""Chinese text for which nobody named a voice, on a server whose default speaks English."""

from __future__ import annotations

import httpx
import pytest
from servers import LiveServer
from talk import talking

pytest.importorskip("rjieba", reason="the Mandarin voice is not there: make setup-mandarin")

FAST = {"pacing": {"lead_ms": None}}
SPEECH_S = 90.0
"""The voice is loaded for the first context that wants it."""


async def test_its_first_text_chooses_the_voice_and_the_client_is_told(
    live_server: LiveServer,
) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("text", delta="你好。")
        await talk.send("end")
        done = await talk.until("done", timeout_s=SPEECH_S)
        (warning,) = talk.events("warning")
    assert (warning["code"], warning["voice"]) == ("voice_chosen", "mandarin")
    assert done["audio_ms"] > 300


async def test_digits_and_marks_that_came_before_it_are_spoken_too(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a")
        for delta in ("5", ", ", "个苹果。"):
            await talk.send("text", ctx="a", delta=delta)
        await talk.send("end", ctx="a")
        await talk.until("done", timeout_s=SPEECH_S)
        (segment,) = talk.events("segment")
        opened = talk.events("opened")[0]
    assert segment["text"] == "5, 个苹果。"
    assert opened["voice"] == "heart"


async def test_english_keeps_the_default_without_a_word(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("text", delta="Hello there.")
        await talk.send("end")
        await talk.until("done")
        assert talk.events("warning") == []


async def test_a_voice_or_a_language_that_was_named_is_kept(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        for named in ({"voice": "heart"}, {"language": "en"}):
            await talk.send("open", ctx="a", **named)
            await talk.send("text", ctx="a", delta="你好。")
            await talk.send("end", ctx="a")
            error = await talk.until("error")
            assert (error["code"], error["fatal"]) == ("unsupported_language", True)


async def test_flushing_before_any_letter_settles_the_voice(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a")
        await talk.send("flush", ctx="a", id="f")
        await talk.until("flushed")
        await talk.send("text", ctx="a", delta="你好。")
        await talk.send("end", ctx="a")
        error = await talk.until("error")
    assert error["code"] == "unsupported_language"


def test_plain_http_says_in_a_header_who_speaks(live_server: LiveServer) -> None:
    for text, voice in (("你好。", "mandarin"), ("Hello.", "heart")):
        answer = httpx.get(
            f"{live_server.url}/v1/speak", params={"text": text, "format": "wav"}, timeout=SPEECH_S
        )
        assert answer.status_code == 200
        assert answer.headers["cosystream-voice"] == voice
        assert len(answer.content) > 10_000
