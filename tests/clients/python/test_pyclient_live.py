"""The client and the real server: what each promises, kept over real sockets."""

from __future__ import annotations

import asyncio
import io
import json

import av
import pytest
from pyclient_command import command

from cosystream import (
    Backoff,
    Cancelled,
    Client,
    ContextFailed,
    Done,
    Flushed,
    Levels,
    MessageRefused,
    Packet,
    SegmentEvent,
    Words,
    say,
    say_to_file,
    stream,
)

TEXT = "The first sentence is here. A second one follows it. And then there is a third."


async def events_of(client: Client, text: str, **options) -> list:
    context = await client.open(**options)
    await context.send(text)
    await context.end()
    return [event async for event in context.events()]


def pcm_of(events: list) -> bytes:
    return b"".join(event.payload for event in events if isinstance(event, Packet))


async def test_speech_comes_with_words_levels_and_exact_length(tone_server):
    async with Client(tone_server.url, codec="pcm_s16le", lead_ms=None) as client:
        events = await events_of(client, TEXT, timestamps=True, levels=True)
    done = events[-1]
    assert isinstance(done, Done)
    packets = [event for event in events if isinstance(event, Packet)]
    assert [packet.pts_samples_48k for packet in packets] == [
        3840 * number for number in range(len(packets))
    ]
    assert packets[0].first
    assert 0 <= len(pcm_of(events)) // 2 - done.samples < 1920
    segments = [event for event in events if isinstance(event, SegmentEvent)]
    assert "".join(segment.text for segment in segments).split() == TEXT.split()
    assert any(isinstance(event, Words) for event in events)
    assert any(isinstance(event, Levels) for event in events)


@pytest.mark.parametrize("every", [3, 7])
async def test_connections_that_break_change_no_byte(tone_server, every):
    fast = Backoff(first_s=0.001, max_s=0.01)
    options = {"codec": "pcm_s16le", "lead_ms": None, "frame_ms": 20, "backoff": fast}
    async with Client(tone_server.url, **options) as client:
        whole = pcm_of(await events_of(client, TEXT))
    async with Client(tone_server.url, **options) as client:
        context = await client.open()
        broken, events = 0, []
        await context.send(TEXT[:30])
        async for event in context.events():
            events.append(event)
            if len(events) == 5:
                await context.send(TEXT[30:])
                await context.end()
            link = client._connection._link
            if len(events) % every == 0 and broken < 10 and link is not None:
                broken += 1
                link.socket.transport.abort()
                await asyncio.sleep(0.02)
    assert broken >= 3
    assert isinstance(events[-1], Done)
    assert pcm_of(events) == whole


async def test_cancel_says_what_was_spoken(tone_server):
    async with Client(tone_server.url, codec="pcm_s16le") as client:
        context = await client.open()
        await context.send(TEXT)
        await context.flush()
        async for _packet in context:
            break
        cancelled = await context.cancel(played_ms=0)
        assert isinstance(cancelled, Cancelled)
        assert cancelled.text_spoken + cancelled.text_remaining == TEXT
        assert cancelled.source == "client"


async def test_errors_have_the_protocols_codes(tone_server):
    async with Client(tone_server.url) as client:
        nobody = await client.open(voice="nobody")
        with pytest.raises(ContextFailed) as failed:
            await nobody.opened()
        assert failed.value.code == "unknown_voice"
        context = await client.open()
        await context.opened()
        for _ in range(8):
            await context.send("x" * 15_000)
        with pytest.raises(MessageRefused) as refused:
            await context.wait()
        assert refused.value.code == "text_too_long"
        await context.cancel()


async def test_a_flush_lets_text_go_and_the_context_stays_open(tone_server):
    async with Client(tone_server.url, lead_ms=None) as client:
        context = await client.open(text_mode="manual")
        await context.send("Part one")
        flush_id = await context.flush()
        events = context.events()
        async for event in events:
            if isinstance(event, Flushed):
                break
        assert event.id == flush_id
        await context.send(" and part two")
        await context.end()
        assert isinstance([event async for event in events][-1], Done)


def test_the_sync_helpers_agree_on_the_length(tone_server, tmp_path):
    speech = say(TEXT, url=tone_server.url)
    assert len(speech.pcm) / 2 / speech.sample_rate * 1000 == speech.stats.audio_ms
    stats = say_to_file(TEXT, tmp_path / "x.opus", url=tone_server.url)
    assert stats.audio_ms == speech.stats.audio_ms
    with av.open(str(tmp_path / "x.opus")) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
    assert samples / 48 == pytest.approx(stats.audio_ms)
    packets = list(stream([TEXT[:20], TEXT[20:]], url=tone_server.url, lead_ms=None))
    assert len(packets) == stats.packets


@pytest.mark.parametrize("codec", ["pcm_s16le", "mulaw", "alaw"])
@pytest.mark.parametrize("rate", [8000, 24000])
async def test_the_command_makes_files_of_every_codec(tone_server, codec, rate):
    outcome = await command(
        "say", TEXT, "--out", "-", "--codec", codec, "--rate", str(rate), "--stats", "json",
        url=tone_server.url,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    figures = json.loads(outcome.err.splitlines()[-1])
    width = 2 if codec == "pcm_s16le" else 1
    assert len(outcome.out) / width / rate * 1000 == pytest.approx(figures["audio_ms"], abs=1)


async def test_the_command_speaks_with_the_embedded_voice_and_measures(live_server, tmp_path):
    text = "Welcome to the stream, everyone, this is take number 1."
    path = tmp_path / "take1.wav"
    outcome = await command("say", text, "--out", str(path), "--stats", "json", url=live_server.url)
    assert outcome.code == 0, outcome.err
    figures = json.loads(outcome.out.splitlines()[-1])
    assert figures["audio_ms"] > 1500
    assert 0 < figures["first_packet_ms"] <= figures["ttfa_ms"]
    with av.open(str(path)) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
    assert samples / 24 == pytest.approx(figures["audio_ms"])


async def test_a_value_out_of_range_is_told_once_with_what_is_allowed(tone_server):
    outcome = await command("say", "Hi.", "--out", "-", "--speed", "3", url=tone_server.url)
    assert outcome.code == 1
    (line,) = outcome.err.splitlines()
    assert "invalid_value: speed: expected 0.5 to 2.0, got 3" in line


async def test_opus_on_a_pipe_is_an_ogg_that_decodes(live_server):
    outcome = await command(
        "say", "--out", "-", "--codec", "opus", url=live_server.url, text=b"Hello there, friend."
    )
    assert outcome.code == 0, outcome.err
    with av.open(io.BytesIO(outcome.out)) as container:
        assert container.streams.audio[0].codec_context.name in {"opus", "libopus"}
        assert sum(frame.samples for frame in container.decode(audio=0)) > 24_000


async def test_the_command_says_a_word_as_told_and_when_each_is_heard(live_server, tmp_path):
    figures = []
    for options in ([], ["--say-as", "GIF=graphics interchange format"]):
        words = tmp_path / "words.jsonl"
        outcome = await command(
            "say", "<think>Hm.</think>A GIF.", "--reasoning", "drop", "--words", str(words),
            "--stats", "json", *options, url=live_server.url,
        )  # fmt: skip
        assert outcome.code == 0, outcome.err
        figures.append(json.loads(outcome.out)["audio_ms"])
        told = [json.loads(line) for line in words.read_text(encoding="utf-8").splitlines()]
        assert [word["text"] for word in told] == ["A", "GIF"]
        assert told[0]["end_ms"] <= told[1]["start_ms"] < figures[-1]
    assert figures[1] > 1.3 * figures[0]
