"""The native protocol over a real socket: contexts, their order, their packets."""

from __future__ import annotations

import asyncio
import itertools

import numpy as np
import pytest
from protocol_rig import FAST, PCM
from servers import LiveServer
from talk import Audio, talking


async def test_two_messages_on_a_bare_connection_speak(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url) as talk:
        await talk.send("text", delta="Hello there.")
        await talk.send("end")
        done = await talk.until("done")
        types = [item["type"] if isinstance(item, dict) else "audio" for item in talk.got]
    assert types[:3] == ["ready", "opened", "segment"]
    assert types[3] == "audio"
    assert done["reason"] == "completed"
    assert done["ctx"] == "auto-1"
    assert done["audio_ms"] > 400


async def test_ready_tells_the_terms(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        ready = talk.events("ready")[0]
    assert ready["audio"] == {
        "codec": "opus", "rate": 24000, "channels": 1, "frame_ms": 80, "bitrate": 32000,
        "framing": "header", "pre_skip": 312,
    }  # fmt: skip
    assert ready["pacing"] == {"lead_ms": 400}
    assert ready["engine"] == "embedded"
    assert ready["default_voice"] == "heart"
    assert ready["resumed"] is False
    assert ready["limits"]["message_bytes"] == 1_048_576
    assert "seq" not in ready


async def test_sequence_and_timestamps_have_no_hole(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        done = await talk.speak(
            "The first sentence is here. The second one follows it. And a third one.",
            ctx="a", timestamps=True, levels=True,
        )  # fmt: skip
    numbered = [
        item.seq if isinstance(item, Audio) else item["seq"]
        for item in talk.got
        if isinstance(item, Audio) or "seq" in item
    ]
    assert numbered == list(range(1, len(numbered) + 1))
    packets = talk.audio()
    assert [packet.pts for packet in packets] == [n * 3840 for n in range(len(packets))]
    assert [packet.first for packet in packets] == [True] + [False] * (len(packets) - 1)
    assert packets[-1].last
    assert done["last_seq"] == packets[-1].seq
    assert {(packet.version, packet.kind, packet.sid) for packet in packets} == {(1, 1, 1)}


async def test_segments_words_and_levels_fit_the_audio(live_server: LiveServer) -> None:
    text = "The first sentence is here. The second one follows it, 42 times."
    async with talking(live_server.ws_url, PCM) as talk:
        done = await talk.speak(text, ctx="a", timestamps=True, levels=True)
    segments = talk.events("segment")
    assert [segment["index"] for segment in segments] == list(range(len(segments)))
    assert "".join(segment["text"] for segment in segments) == text
    assert all(text[s["char_start"] : s["char_end"]] == s["text"] for s in segments)
    words = [word for event in talk.events("words") for word in event["items"]]
    assert all(text[w["char_start"] : w["char_end"]] == w["text"] for w in words)
    assert [w["text"] for w in words][:3] == ["The", "first", "sentence"]
    assert all(a["end_ms"] <= b["start_ms"] + 1 for a, b in itertools.pairwise(words))
    assert words[-1]["end_ms"] <= done["audio_ms"]
    values = [value for event in talk.events("levels") for value in event["values"]]
    assert abs(len(values) * 20 - done["audio_ms"]) <= 20
    assert all(0 <= value <= 1 for value in values)
    assert max(values) > 0.3
    assert len(talk.pcm()) - done["samples"] < 1920


async def test_without_asking_there_are_no_words_and_no_levels(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.speak("Hello there.")
    assert not talk.events("words")
    assert not talk.events("levels")


@pytest.mark.parametrize("size", [1, 3, 10_000])
async def test_any_cutting_of_the_text_gives_the_same_segments(
    live_server: LiveServer, size: int
) -> None:
    text = (
        "Dr. Lin paid $12,350.50 on May 4, 1987. It was e.g. 3.5 times more than we thought! "
        "Visit example.org/faq or write to a.b@example.org, and we answer within a day; "
        "you may also call us. Goodbye."
    )
    async with talking(live_server.ws_url, PCM) as talk:
        await talk.send("open", ctx="a")
        for start in range(0, len(text), size):
            await talk.send("text", ctx="a", delta=text[start : start + size])
        await talk.send("end", ctx="a")
        await talk.until("done")
    segments = [segment["text"] for segment in talk.events("segment")]
    assert "".join(segments) == text
    assert segments == await _segments_of_whole(live_server, text)


async def _segments_of_whole(server: LiveServer, text: str) -> list[str]:
    async with talking(server.ws_url, PCM) as talk:
        await talk.speak(text)
        return [segment["text"] for segment in talk.events("segment")]


async def test_flush_speaks_what_is_there_and_the_context_goes_on(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", text_mode="manual")
        await talk.send("text", ctx="a", delta="The first part of the answer is here, ")
        assert not [i for i in await talk.quiet(0.3) if isinstance(i, Audio)]
        await talk.send("flush", ctx="a", id="f1")
        flushed = await talk.until("flushed")
        before = len(talk.audio())
        await talk.send("text", ctx="a", delta="and the second part follows. ")
        await talk.send("end", ctx="a")
        done = await talk.until("done")
    assert flushed["id"] == "f1"
    assert before > 0
    assert len(talk.audio()) > before
    assert 0 < flushed["pts_ms"] < done["audio_ms"]
    assert len(talk.events("done")) == 1


async def test_contexts_queue_and_do_not_mix(tone_server: LiveServer) -> None:
    names = ("a", "b", "c")
    async with talking(tone_server.ws_url, PCM) as talk:
        for seed, name in enumerate(names, start=1):
            await talk.send("open", ctx=name, seed=seed)
            await talk.send("text", ctx=name, delta=f"This is context {name} speaking now.")
        for name in names:  # none can end before all are there, however slow this client is
            await talk.send("end", ctx=name)
        for name in names:
            await talk.until("done", ctx=name)
    assert [(q["ctx"], q["position"]) for q in talk.events("queued")][:2] == [("b", 1), ("c", 2)]
    sids = [packet.sid for packet in talk.audio()]
    assert sids == sorted(sids)
    for sid in (1, 2, 3):
        assert np.array_equal(talk.pcm(sid), await _solo(tone_server, sid))


async def _solo(server: LiveServer, seed: int) -> np.ndarray:
    name = " abc"[seed]
    async with talking(server.ws_url, PCM) as talk:
        await talk.send("open", ctx=name, seed=seed)
        await talk.send("text", ctx=name, delta=f"This is context {name} speaking now.")
        await talk.send("end", ctx=name)
        await talk.until("done")
        return talk.pcm()


async def test_eight_sessions_each_hear_their_own(tone_server: LiveServer) -> None:
    async def one(seed: int) -> np.ndarray:
        async with talking(tone_server.ws_url, {"audio": {"codec": "pcm_s16le"}}) as talk:
            await talk.send("open", ctx="same", seed=seed)
            await talk.send("text", ctx="same", delta="A text that is the same for all.")
            await talk.send("end", ctx="same")
            await talk.until("done")
            return talk.pcm()

    together = await asyncio.gather(*(one(seed) for seed in range(8)))
    for seed in (0, 3, 7):
        assert np.array_equal(together[seed], await one(seed))
    assert len({samples.tobytes() for samples in together}) == 8


async def test_fifty_turns_with_new_ids_need_no_more_than_one_context(
    start_server,
) -> None:
    server = start_server(engine__runner="tone", limits__contexts=5)
    async with talking(server.ws_url, PCM) as talk:
        for turn in range(50):
            done = await talk.speak("Hi.", ctx=f"turn-{turn}")
            assert done["audio_ms"] > 0


async def test_an_id_may_be_used_again_after_its_context_has_ended(
    tone_server: LiveServer,
) -> None:
    async with talking(tone_server.ws_url, PCM) as talk:
        await talk.speak("One.", ctx="x")
        await talk.speak("Two.", ctx="x")
    assert len(talk.events("done", ctx="x")) == 2
    assert [event["sid"] for event in talk.events("opened")] == [1, 2]


async def test_reusing_an_active_id_is_refused_and_the_first_goes_on(
    tone_server: LiveServer,
) -> None:
    async with talking(tone_server.ws_url, {"audio": {"codec": "pcm_s16le"}}) as talk:
        await talk.send("open", ctx="x", seed=5)
        await talk.send("text", ctx="x", delta="A long text is being spoken by the first one.")
        await talk.until_audio()
        await talk.send("open", ctx="x", seed=6)
        error = await talk.until("error")
        await talk.send("end", ctx="x")
        await talk.until("done")
    assert error["code"] == "context_exists"
    assert "'x'" in error["message"]
    assert error["fatal"] is False
    assert len({packet.sid for packet in talk.audio()}) == 1


async def test_metadata_comes_back_in_done(live_server: LiveServer) -> None:
    metadata = {"call": "c-17", "nested": {"a": [1, 2]}}
    async with talking(live_server.ws_url, {**FAST, "metadata": metadata}) as talk:
        done = await talk.speak("Hello.")
    assert done["metadata"] == metadata
    assert "c-17" in live_server.log


async def test_punctuation_or_emoji_alone_end_cleanly_with_a_warning(
    live_server: LiveServer,
) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        for text in ("...", "🎉🎉", "?!", " \n ", ""):
            done = await talk.speak(text)
            assert done["audio_ms"] == 0
            assert done["first_packet_ms"] is None
    assert len(talk.events("warning", code="nothing_to_speak")) == 5
    assert not talk.audio()
    assert not talk.events("error")


async def test_emoji_between_sentences_make_no_gap_in_the_indexes(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a")
        for delta in ("Great! ", "🎉🎉", " ", "\n\n", " See you."):
            await talk.send("text", ctx="a", delta=delta)
        await talk.send("end", ctx="a")
        await talk.until("done")
    assert [segment["index"] for segment in talk.events("segment")] == [0, 1]
    assert not talk.events("warning")


async def test_text_before_and_after_end_makes_two_utterances(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        for text in ("One.", "Two."):
            await talk.send("text", delta=text)
            await talk.send("end")
        await talk.until("done", ctx="auto-2")
    assert [done["ctx"] for done in talk.events("done")] == ["auto-1", "auto-2"]


async def test_ping_is_answered_at_once_while_speaking(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await talk.send("text", delta="A sentence that takes a while to be spoken aloud.")
        await talk.until_audio()
        await talk.send("ping", id=7)
        pong = await talk.until("pong")
    assert pong["id"] == 7
    assert not talk.events("done")
