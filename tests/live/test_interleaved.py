"""Text that pauses in mid-sentence is spoken while it comes: CosyVoice, tiny and random."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec

import httpx
import pytest
from servers import LiveServer
from talk import Audio, Talk, eventually, talking

pytestmark = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed: make setup-cosyvoice"
)

PCM = {"audio": {"codec": "pcm_s16le"}, "pacing": {"lead_ms": None}}
PACKET = 1_920
"""The last one is filled up."""
SPEECH_S = 90.0
BEGINNING = "I am thinking of a walk, and you are "
"""Enough for a first sound, and in the midst of a sentence."""


async def begins(talk: Talk, ctx: str = "a", text: str = BEGINNING) -> None:
    """The context is heard though its text has not ended."""
    await talk.send("open", ctx=ctx, text_mode="interleaved")
    for word in text.split(" "):
        await talk.send("text", ctx=ctx, delta=f"{word} ")
    await talk.until_audio(timeout_s=SPEECH_S)


async def is_silent(talk: Talk) -> None:
    """All that could be said has been."""
    async with asyncio.timeout(SPEECH_S):
        while [each for each in await talk.quiet(1.0) if isinstance(each, Audio)]:
            pass


async def test_it_sounds_before_the_text_ends_waits_for_the_rest_and_goes_on(
    either: LiveServer,
) -> None:
    async with talking(either.ws_url, PCM) as talk:
        await begins(talk)
        await is_silent(talk)
        assert not talk.events("done")
        packets = len(talk.audio())
        await talk.send("text", ctx="a", delta="not.")
        await talk.send("end", ctx="a")
        done = await talk.until("done", timeout_s=SPEECH_S)
    assert len(talk.audio()) > packets
    assert done["first_packet_ms"] > 0
    assert 0 <= len(talk.pcm()) - done["samples"] < PACKET
    told = talk.events("segment")
    assert {each["index"] for each in told} == {0}
    assert "".join(each["text"] for each in told) == f"{BEGINNING} not."
    assert [each["char_start"] for each in told[1:]] == [each["char_end"] for each in told[:-1]]
    assert [each["pts_ms"] for each in told] == sorted(each["pts_ms"] for each in told)
    assert not talk.events("warning")


async def test_another_speaks_while_it_waits(either: LiveServer) -> None:
    async with talking(either.ws_url, PCM) as slow, talking(either.ws_url, PCM) as quick:
        await begins(slow)
        await is_silent(slow)
        await quick.send("open", ctx="q")
        await quick.send("text", ctx="q", delta="I am not.")
        await quick.send("end", ctx="q")
        done = await quick.until("done", timeout_s=SPEECH_S)
        assert done["audio_ms"] > 0
        assert not slow.events("done")
        await slow.send("cancel", ctx="a")
        await slow.until("cancelled")


async def test_after_a_cancel_in_the_pause_nothing_is_heard_and_its_slot_is_free(
    either: LiveServer,
) -> None:
    before = await either.free_slots_at_rest()
    async with talking(either.ws_url, PCM) as talk:
        await begins(talk)
        await talk.send("cancel", ctx="a")
        cancelled = await talk.until("cancelled")
        assert not [each for each in await talk.quiet(0.5) if isinstance(each, Audio)]
        given = "".join(f"{word} " for word in BEGINNING.split(" "))
        assert cancelled["text_spoken"] + cancelled["text_remaining"] == given
    await eventually(lambda: either.metric("free_slots") == before, 20)


async def test_a_flush_says_all_that_has_come(server: LiveServer) -> None:
    async with talking(server.ws_url, PCM) as talk:
        await talk.send("open", ctx="a", text_mode="interleaved", timestamps=True)
        await talk.send("text", ctx="a", delta="I see you ")
        await talk.send("flush", ctx="a", id="f")
        flushed = await talk.until("flushed", timeout_s=SPEECH_S)
        assert flushed["id"] == "f"
        await talk.send("text", ctx="a", delta="and you?")
        await talk.send("end", ctx="a")
        await talk.until("done", timeout_s=SPEECH_S)
    assert [each["index"] for each in talk.events("segment")] == [0, 1]
    words = [item["text"] for told in talk.events("words") for item in told["items"]]
    assert words == ["I", "see", "you", "and", "you"]


async def test_a_connection_lost_in_the_pause_is_taken_up_again(server: LiveServer) -> None:
    async with talking(server.ws_url, {**PCM}) as talk:
        ready = talk.events("ready")[0]
        await begins(talk)
        await is_silent(talk)
        last_seq = max(each.seq for each in talk.audio())
        talk.socket.transport.abort()
    resume = {
        "session": ready["session"],
        "token": ready["resume_token"],
        "last_seq": last_seq,
    }
    async with talking(server.ws_url, {"resume": resume}) as again:
        assert again.events("ready")[0]["resumed"]
        await again.send("text", ctx="a", delta="not.")
        await again.send("end", ctx="a")
        done = await again.until("done", timeout_s=SPEECH_S)
    assert 0 <= len(talk.pcm()) + len(again.pcm()) - done["samples"] < PACKET


async def test_what_the_engine_takes_is_listed(either: LiveServer) -> None:
    async with httpx.AsyncClient(base_url=either.url) as client:
        options = (await client.get("/v1/voices")).json()["options"]
    assert "interleaved" in options


async def test_version_2_with_an_instruction_says_that_it_cannot(either: LiveServer) -> None:
    async with talking(either.ws_url, PCM) as talk:
        await talk.send("open", ctx="a", text_mode="interleaved", instruct="Happily.")
        await talk.send("cancel", ctx="a")
        await talk.until("cancelled")
    options = [each["option"] for each in talk.events("warning")]
    version_2 = talk.events("ready")[0]["engine"] == "cosyvoice2"
    assert options == (["text_mode"] if version_2 else [])
