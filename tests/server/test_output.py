"""A context's way out: events stay where they are among the audio, encoding is bounded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from server.encoding import EncoderPool
from server.events import Flushed
from server.output import AHEAD_SLOTS, Audible, Item, LevelsAt, Output
from streaming.audio.format import AudioFormat
from streaming.audio.packetizer import Packet
from streaming.messages import Failed, Finished
from streaming.samples import CHUNK_SAMPLES

PCM = AudioFormat("pcm_s16le", 24_000, 80)
OPUS = AudioFormat("opus", 24_000, 80)
TONE = (np.sin(np.arange(CHUNK_SAMPLES) / 5) * 8_000).astype("<i2").tobytes()
SILENCE = bytes(2 * CHUNK_SAMPLES)


@pytest.fixture
async def pool() -> AsyncIterator[EncoderPool]:
    made = EncoderPool(1)
    yield made
    made.close()


@dataclass
class Exit:
    """An output and whoever takes from it."""

    output: Output
    ready: asyncio.Event
    taken: list[Item] = field(default_factory=list)

    async def next(self) -> Item:
        async with asyncio.timeout(5):
            while (item := self.output.peek(0.0)) is None:
                self.ready.clear()
                await self.ready.wait()
        self.output.pop()
        self.taken.append(item)
        return item

    async def to_the_end(self) -> list[Item]:
        while not isinstance(await self.next(), Finished | Failed):
            pass
        return self.taken

    @property
    def packets(self) -> list[Packet]:
        return [item for item in self.taken if isinstance(item, Packet)]


MakeExit = Callable[..., Exit]


@pytest.fixture
async def way_out(pool: EncoderPool) -> AsyncIterator[MakeExit]:
    made: list[Exit] = []

    def make(audio: AudioFormat = OPUS, *, levels: bool = False) -> Exit:
        ready = asyncio.Event()
        made.append(Exit(Output(audio, pool, levels=levels, on_ready=ready.set), ready))
        return made[-1]

    yield make
    for each in made:
        each.output.close()


def flushed(name: str) -> Flushed:
    return Flushed(ctx="a", id=name, pts_ms=0)


def finished(chunks: int) -> Finished:
    return Finished(ctx=1, samples=chunks * CHUNK_SAMPLES, compute_s=0.0)


class GatedPool(EncoderPool):
    """Its one thread does nothing until it is let."""

    def __init__(self) -> None:
        super().__init__(1)
        self.gate = threading.Event()
        held = threading.Event()
        self.submit(0, -1.0, lambda: (held.set(), self.gate.wait(5)), lambda _: None)
        assert held.wait(5)


@pytest.mark.parametrize("audio", [PCM, OPUS], ids=["pcm", "opus"])
async def test_events_stay_where_they_are_among_the_audio(
    way_out: MakeExit, audio: AudioFormat
) -> None:
    way = way_out(audio)
    way.output.put(flushed("before"))
    for number in range(3):
        way.output.put_audio(TONE, last=False)
        way.output.put(flushed(f"after {number}"))
    way.output.put(finished(3))
    items = [item for item in await way.to_the_end() if not isinstance(item, Audible)]
    shape = [item.id if isinstance(item, Flushed) else type(item).__name__ for item in items]
    padded = ["Packet"] if audio is OPUS else []  # the codec's lookahead needs one more
    begin = ["before", "Packet", "after 0", "Packet", "after 1", "Packet", "after 2"]
    assert shape == [*begin, *padded, "Finished"]


@pytest.mark.parametrize("audio", [PCM, OPUS], ids=["pcm", "opus"])
async def test_the_packet_that_ends_the_context_says_so(
    way_out: MakeExit, audio: AudioFormat
) -> None:
    way = way_out(audio)
    way.output.put_audio(TONE, last=False)
    way.output.put_audio(TONE, last=True)
    way.output.put(finished(2))
    await way.to_the_end()
    assert [packet.last for packet in way.packets] == [False] * (len(way.packets) - 1) + [True]


async def test_a_remainder_is_carried_over_and_only_the_end_is_filled_up(
    way_out: MakeExit,
) -> None:
    way = way_out(PCM)
    pcm = (np.arange(1, 3_012) % 30_000).astype("<i2").tobytes()
    for start in range(0, len(pcm), 2 * 1_000):
        way.output.put_audio(pcm[start : start + 2 * 1_000], last=False)
    way.output.put(Finished(ctx=1, samples=3_011, compute_s=0.0))
    await way.to_the_end()
    joined = b"".join(packet.payload for packet in way.packets)
    assert joined == pcm + bytes(-len(pcm) % (2 * CHUNK_SAMPLES))


async def test_an_end_without_any_audio_is_only_that(way_out: MakeExit) -> None:
    way = way_out()
    way.output.put(finished(0))
    assert await way.to_the_end() == [finished(0)]


async def test_failing_in_mid_audio_gives_what_was_whole_and_then_the_failure(
    way_out: MakeExit,
) -> None:
    way = way_out()
    way.output.put_audio(TONE, last=False)
    way.output.put(Failed(ctx=1, code="synthesis_failed", message="a step raised"))
    await way.to_the_end()
    assert len(way.packets) == 1
    assert isinstance(way.taken[-1], Failed)


async def test_the_first_sound_is_found_once(way_out: MakeExit) -> None:
    way = way_out()
    way.output.put_audio(SILENCE, last=False)
    way.output.put_audio(TONE, last=False)
    way.output.put_audio(TONE, last=False)
    way.output.put(finished(3))
    await way.to_the_end()
    found = [item.samples for item in way.taken if isinstance(item, Audible)]
    assert len(found) == 1
    assert CHUNK_SAMPLES <= found[0] < CHUNK_SAMPLES + 24


async def test_levels_cover_the_audio_without_a_hole_each_before_its_packet(
    way_out: MakeExit,
) -> None:
    way = way_out(levels=True)
    for _ in range(4):
        way.output.put_audio(TONE, last=False)
    way.output.put(finished(4))
    await way.to_the_end()
    at_ms, sent_ms = 0, 0
    for item in way.taken:
        if isinstance(item, LevelsAt):
            assert item.pts_ms == at_ms
            assert sent_ms <= item.pts_ms
            at_ms += 20 * len(item.values)
        elif isinstance(item, Packet):
            sent_ms += 80
    assert at_ms == 320


async def test_encoding_runs_no_further_ahead_than_two_chunks() -> None:
    pool = GatedPool()
    output = Output(OPUS, pool, levels=False, on_ready=lambda: None)
    for _ in range(50):
        output.put_audio(TONE, last=False)
    assert output.peek(0.0) is None
    assert pool.waiting == AHEAD_SLOTS
    pool.gate.set()
    output.close()
    await asyncio.to_thread(pool.close)


async def test_what_is_asked_for_sooner_is_encoded_sooner() -> None:
    pool = GatedPool()
    done: list[str] = []
    urgent, patient = (
        Output(OPUS, pool, levels=False, on_ready=lambda name=name: done.append(name))
        for name in ("urgent", "patient")
    )
    for output, deadline_s in ((patient, 9.0), (urgent, 1.0)):
        output.put_audio(TONE, last=False)
        output.peek(deadline_s)
    pool.gate.set()
    async with asyncio.timeout(5):
        while len(done) < 2:  # noqa: ASYNC110 - `on_ready` is a plain call
            await asyncio.sleep(0.001)
    assert done == ["urgent", "patient"]
    for output in (urgent, patient):
        output.close()
    await asyncio.to_thread(pool.close)


@pytest.mark.parametrize("audio", [PCM, OPUS], ids=["pcm", "opus"])
async def test_an_encoder_that_raises_ends_its_context_and_no_other(
    way_out: MakeExit, audio: AudioFormat
) -> None:
    broken, good = way_out(audio), way_out(audio)
    broken.output.put_audio(b"\0", last=False)  # half a sample
    good.output.put_audio(TONE, last=True)
    good.output.put(finished(1))
    (failed,) = await broken.to_the_end()
    assert isinstance(failed, Failed)
    assert failed.code == "internal"
    assert "encoding failed" in failed.message
    await good.to_the_end()
    assert good.packets[-1].last


async def test_closing_drops_everything_and_is_harmless_twice() -> None:
    pool = GatedPool()
    calls: list[str] = []
    output = Output(OPUS, pool, levels=False, on_ready=lambda: calls.append("ready"))
    output.put_audio(TONE, last=False)
    output.peek(0.0)
    output.close()
    output.close()
    pool.gate.set()
    await pool.run(lambda: None, deadline_s=1e9)  # behind what was submitted
    assert calls == []
    assert output.peek(0.0) is None
    await asyncio.to_thread(pool.close)
