"""Speech without asyncio, and that no thread or connection outlives it."""

from __future__ import annotations

import asyncio
import threading
import time
import wave
from collections.abc import Iterator

import pytest
from pyclient_fake import PACKET_BYTES, PACKETS, FakeServer

from cosystream import ConnectionFailed, ContextFailed, say, say_to_file, stream
from cosystream.threads import LoopThread, pieces_of


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with LoopThread() as loop:
        server = loop.run(_enter(FakeServer()))
        yield server
        loop.run(server.__aexit__())


async def _enter(server: FakeServer) -> FakeServer:
    return await server.__aenter__()


@pytest.fixture(autouse=True)
def no_thread_is_left(fake):  # noqa: ARG001 - its thread is there before and after
    before = set(threading.enumerate())
    yield
    deadline_s = time.monotonic() + 2
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert not left


def wait_for(condition) -> None:
    deadline_s = time.monotonic() + 3
    while not condition() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert condition()


def test_say_returns_the_speech_and_its_figures(fake):
    speech = say("Hello.", url=fake.url, voice="v", speed=1.2)
    assert len(speech.pcm) == PACKETS * PACKET_BYTES
    assert speech.stats.packets == PACKETS
    assert speech.stats.first_packet_ms > 0
    assert speech.stats.connect_ms > 0
    assert fake.messages("open")[0] == {"type": "open", "ctx": "c-1", "voice": "v", "speed": 1.2}
    assert fake.received[0]["pacing"] == {"lead_ms": None}


def test_every_option_of_a_context_may_be_given(fake):
    for _packet in stream("Hi.", url=fake.url, rate=16000, lexicon={"GIF": "jif"}, levels=True):
        pass
    (opening,) = fake.messages("open")
    assert opening["lexicon"] == [{"text": "GIF", "say": "jif"}]
    assert opening["levels"] is True
    assert fake.received[0]["audio"]["rate"] == 16000
    with pytest.raises(TypeError, match="sped"):
        say("Hi.", url=fake.url, sped=2.0)


def test_say_raises_what_went_wrong(fake):
    async def refuse(session, message):
        await session.error("unknown_voice", ctx=message["ctx"])
        return True

    fake.hooks["open"] = refuse
    with pytest.raises(ContextFailed, match="unknown_voice"):
        say("Hello.", url=fake.url, voice="nobody")
    with pytest.raises(ConnectionFailed):
        say("Hello.", url="http://127.0.0.1:1")


async def test_say_works_inside_a_running_loop(fake):
    assert say("Hello.", url=fake.url).stats.packets == PACKETS


def test_say_to_file_goes_by_the_name(fake, tmp_path):
    path = tmp_path / "x.wav"
    stats = say_to_file("Hello.", path, url=fake.url)
    assert stats.packets == PACKETS
    assert path.stat().st_size > PACKETS * PACKET_BYTES
    with pytest.raises(ValueError, match=r"\.opus"):
        say_to_file("Hello.", tmp_path / "x.mp3", url=fake.url)
    with pytest.raises(wave.Error, match="7"), wave.open(str(path)):
        pass  # the fake speaks mu-law, and the file says so


def test_stream_yields_packets_as_they_come(fake):
    packets = list(stream("Hello.", url=fake.url))
    assert [packet.last for packet in packets] == [False, False, True]
    wait_for(lambda: fake.close_codes == [1000])


def test_stream_takes_pieces_as_they_are_written(fake):
    def write():
        for piece in ("Hel", "lo ", "you."):
            time.sleep(0.01)
            yield piece

    assert len(list(stream(write(), url=fake.url))) == PACKETS
    assert [message["delta"] for message in fake.messages("text")] == ["Hel", "lo ", "you."]


def test_breaking_out_of_a_stream_closes_it(fake):
    async def never_finish(session, message):
        await session.speak(session.contexts[message["ctx"]])
        return True

    fake.hooks["end"] = never_finish
    for _packet in stream("Hello.", url=fake.url):
        break
    wait_for(lambda: fake.close_codes == [1000])


def test_an_exception_in_the_loop_closes_it_too(fake):
    def fall_over():
        for packet in stream("Hello.", url=fake.url):
            raise KeyError(packet.seq)

    with pytest.raises(KeyError):
        fall_over()
    wait_for(lambda: fake.close_codes == [1000])


def test_what_the_iterable_raises_is_raised_to_the_reader(fake):
    def write():
        yield "Hello"
        raise RuntimeError("model fell over")

    with pytest.raises(RuntimeError, match="fell over"):
        list(stream(write(), url=fake.url))


def test_a_blocked_iterable_does_not_hold_up_leaving(fake):
    release = threading.Event()

    def write():
        yield "Hello. "
        release.wait(10)
        yield "late"

    async def speak_at_once(session, message):
        context = session.contexts[message["ctx"]]
        context.text += message["delta"]
        await session.speak(context)
        return True

    fake.hooks["text"] = speak_at_once
    began_s = time.monotonic()
    for _packet in stream(write(), url=fake.url):
        break
    assert time.monotonic() - began_s < 5
    release.set()


async def test_pieces_are_asked_for_one_at_a_time():
    asked = []

    def write():
        for number in range(5):
            asked.append(number)
            yield str(number)

    pieces = pieces_of(write())
    assert await anext(pieces) == "0"
    await asyncio.sleep(0.05)
    assert asked == [0]
    await pieces.aclose()
