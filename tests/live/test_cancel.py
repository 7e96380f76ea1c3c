"""Cancel: at once on the wire, harmless at the wrong moment, exact about what was heard."""

from __future__ import annotations

import asyncio
import random

import numpy as np
from servers import LiveServer
from talk import Audio, Talk, eventually, talking

LONG = "This is a rather long sentence that goes on and on for the test's sake. " * 5
PCM = {"audio": {"codec": "pcm_s16le"}}


async def _speaking(talk: Talk, ctx: str, **fields: object) -> Audio:
    await talk.send("open", ctx=ctx, **fields)
    await talk.send("text", ctx=ctx, delta=LONG)
    return await talk.until_audio()


async def test_no_packet_follows_cancelled(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        first = await _speaking(talk, "a")
        await talk.send("cancel", ctx="a")
        cancelled = await talk.until("cancelled")
        after = await talk.quiet(0.6)
    # 1 ms on an idle machine (docs/performance.md); this one runs other tests beside.
    assert cancelled["at_s"] - talk.sent_s["cancel"] < 0.5
    assert [item for item in after if isinstance(item, Audio) and item.sid == first.sid] == []
    assert not talk.events("done")


async def test_cancelled_splits_the_text_at_what_was_heard(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await _speaking(talk, "a")
        await talk.quiet(1.5)
        await talk.send("cancel", ctx="a")
        cancelled = await talk.until("cancelled")
    assert cancelled["text_spoken"] + cancelled["text_remaining"] == LONG
    assert cancelled["source"] == "clock"
    assert 1000 < cancelled["played_ms"] < 2500
    assert cancelled["played_ms"] <= cancelled["audio_sent_ms"] <= cancelled["played_ms"] + 600
    assert 5 < len(cancelled["text_spoken"]) < 60


async def test_the_client_may_say_how_much_was_heard(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await _speaking(talk, "a")
        await talk.quiet(1.0)
        await talk.send("cancel", ctx="a", played_ms=300)
        cancelled = await talk.until("cancelled")
    assert cancelled["source"] == "client"
    assert cancelled["played_ms"] == 300


async def test_nothing_heard_means_nothing_spoken(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await _speaking(talk, "a")
        await talk.send("cancel", ctx="a", played_ms=0)
        cancelled = await talk.until("cancelled")
    assert cancelled["text_spoken"] == ""
    assert cancelled["text_remaining"] == LONG


async def test_played_reports_are_clamped_to_what_was_sent(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await _speaking(talk, "a")
        await talk.send("played", ctx="a", pts_ms=1e9)
        warning = await talk.until("warning")
        await talk.send("cancel", ctx="a")
        cancelled = await talk.until("cancelled")
    assert warning["code"] == "played_clamped"
    assert cancelled["played_ms"] <= cancelled["audio_sent_ms"]


async def test_cancel_before_any_audio_gives_none(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, {}) as talk:
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta=LONG)
        await talk.send("cancel", ctx="a")
        cancelled = await talk.until("cancelled")
        after = await talk.quiet(0.4)
    assert cancelled["text_remaining"] == LONG
    assert not [item for item in after if isinstance(item, Audio)]


async def test_cancel_of_something_that_has_ended_is_harmless(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {"pacing": {"lead_ms": None}}) as talk:
        await talk.speak("Hi.", ctx="a")
        await talk.send("cancel", ctx="a")
        assert (await talk.until("warning"))["code"] == "not_active"
        await talk.send("cancel", ctx="*")
        assert (await talk.until("warning"))["code"] == "not_active"
        await talk.speak("Still here.")
    assert not talk.events("error")


async def test_a_new_context_right_after_a_cancel_is_accepted(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await _speaking(talk, "a")
        await asyncio.sleep(0.2)
        await talk.send("cancel", ctx="a")
        await talk.send("open", ctx="b")
        await talk.send("text", ctx="b", delta="Next.")
        await talk.send("end", ctx="b")
        done = await talk.until("done")
    assert done["ctx"] == "b"
    assert not talk.events("error")


async def test_the_same_id_may_be_opened_again_at_once(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        first = await _speaking(talk, "a")
        await talk.send("cancel", ctx="a")
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta="Next.")
        await talk.send("end", ctx="a")
        await talk.until("done")
        seen = talk.got.index(talk.events("cancelled")[0])
    assert all(item.sid != first.sid for item in talk.got[seen:] if isinstance(item, Audio))


async def test_cancel_star_ends_all_without_letting_the_next_begin(
    live_server: LiveServer,
) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await _speaking(talk, "a")
        for name in ("b", "c"):
            await talk.send("open", ctx=name)
            await talk.send("text", ctx=name, delta=LONG)
        await talk.send("cancel", ctx="*")
        for _ in range(3):
            await talk.until("cancelled")
        after = await talk.quiet(0.4)
    assert {packet.sid for packet in talk.audio()} == {1}
    assert not [item for item in after if isinstance(item, Audio)]


async def test_interrupt_cancels_and_speaks(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await _speaking(talk, "a")
        await talk.send("open", ctx="b", when="interrupt")
        await talk.send("text", ctx="b", delta="Now this.")
        await talk.send("end", ctx="b")
        await talk.until("done", ctx="b")
        seen = talk.got.index(talk.events("cancelled")[0])
    assert talk.events("cancelled")[0]["ctx"] == "a"
    assert {item.sid for item in talk.got[seen:] if isinstance(item, Audio)} == {2}


async def test_replace_cancels_only_what_has_not_begun(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {"audio": {"codec": "pcm_s16le"}}) as talk:
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta="The one that speaks goes on.")
        await talk.send("end", ctx="a")
        await talk.until_audio()
        for name in ("b", "c"):
            await talk.send("open", ctx=name)
            await talk.send("text", ctx=name, delta="Waiting.")
        await talk.send("open", ctx="d", when="replace")
        await talk.send("text", ctx="d", delta="The new one.")
        await talk.send("end", ctx="d")
        await talk.until("done", ctx="d")
    assert {event["ctx"] for event in talk.events("cancelled")} == {"b", "c"}
    assert [event["ctx"] for event in talk.events("done")] == ["a", "d"]


async def test_a_refused_interrupt_cancels_nothing(live_server: LiveServer) -> None:
    async with talking(live_server.ws_url, {}) as talk:
        await _speaking(talk, "a")
        await talk.send("open", ctx="b", when="interrupt", voice="nobody")
        await talk.until("error", code="unknown_voice")
        assert await talk.until_audio(sid=1)
    assert not talk.events("cancelled")


async def test_a_turn_cancelled_at_a_random_moment_leaves_nothing_in_the_next(
    tone_server: LiveServer,
) -> None:
    await asyncio.gather(*(_interrupted_turns(tone_server, seed) for seed in range(10)))


async def _interrupted_turns(server: LiveServer, seed: int) -> None:
    chance = random.Random(seed)
    async with talking(server.ws_url, PCM) as talk:
        solo = await _turn(talk, "solo")
        for turn in range(10):
            await talk.send("open", ctx="a", seed=99)
            await talk.send("text", ctx="a", delta=LONG)
            await asyncio.sleep(chance.uniform(0, 0.1))
            await talk.send("cancel", ctx="a")
            samples = await _turn(talk, f"b{turn}")
            assert np.array_equal(samples, solo)


async def _turn(talk: Talk, ctx: str) -> np.ndarray:
    await talk.send("open", ctx=ctx, seed=7)
    await talk.send("text", ctx=ctx, delta="Short.")
    await talk.send("end", ctx=ctx)
    opened = await talk.until("opened", ctx=ctx)
    await talk.until("done", ctx=ctx)
    return talk.pcm(opened["sid"])


async def test_a_close_frame_frees_the_work_at_once(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, {}) as talk:
        for number in range(4):
            await talk.send("open", ctx=f"c{number}")
            await talk.send("text", ctx=f"c{number}", delta=LONG)
        await talk.until_audio()
        await talk.socket.close()
        await eventually(lambda: tone_server.metric("contexts") == 0, 2)
    await eventually(lambda: tone_server.metric("engine_contexts") == 0)
