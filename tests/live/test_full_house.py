"""More than a server can serve, over real sockets: who is let in, who waits, who is told no."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import httpx
import pytest
from servers import LiveServer, StartServer
from talk import Audio, Event, Talk, eventually, talking
from websockets.exceptions import ConnectionClosed

PCM = {"audio": {"codec": "pcm_s16le"}}
QUICK_MS = 250.0
"""Beside seconds of waiting in a queue; a few milliseconds are usual."""
SOME = "This text is heard for some seconds. "
LONG = SOME * 8
FRAME_PTS = 3_840
"""80 ms."""


async def begin(talk: Talk, ctx: str, text: str = LONG, **fields: object) -> None:
    await talk.send("open", ctx=ctx, **fields)
    await talk.send("text", ctx=ctx, delta=text)


async def refused(talk: Talk, ctx: str) -> tuple[Event, float]:
    """The refusal of a context that is asked for now, and how many ms it took."""
    await talk.send("open", ctx=ctx)
    error = await talk.until("error", ctx=ctx)
    return error, 1000 * (error["at_s"] - talk.sent_s["open"])


def gap_free(packets: list[Audio]) -> bool:
    starts = [packet.pts for packet in packets]
    return starts == [starts[0] + FRAME_PTS * index for index in range(len(starts))]


class TestAtTwiceTheCapacity:
    async def test_those_admitted_hear_all_without_a_hole_and_the_others_are_told_at_once(
        self, start_server: StartServer
    ) -> None:
        server = start_server(engine__runner="tone", engine__capacity=4)
        async with AsyncExitStack() as stack:
            talks = [await stack.enter_async_context(talking(server.ws_url, PCM)) for _ in range(8)]
            inside, outside = talks[:4], talks[4:]
            for talk in inside:
                await begin(talk, "a", SOME)
                await talk.until("opened")
            took_ms = []
            for round_ in range(5):
                for talk in outside:
                    error, ms = await refused(talk, f"r{round_}")
                    assert (error["code"], error["status"]) == ("overloaded", 503)
                    assert error["retryable"]
                    assert error["retry_after_ms"] >= 100
                    took_ms.append(ms)
            assert statistics.median(took_ms) < QUICK_MS
            for talk in inside:
                await talk.send("end", ctx="a")
            await asyncio.gather(*(talk.until("done", ctx="a") for talk in inside))
            assert all(gap_free(talk.audio()) for talk in inside)
            await asyncio.gather(*(talk.speak("Now there is room.", ctx="b") for talk in outside))

    async def test_a_plain_request_is_refused_with_503_and_the_seconds_to_wait(
        self, start_server: StartServer
    ) -> None:
        server = start_server(engine__runner="tone", engine__capacity=1)
        async with talking(server.ws_url, PCM) as inside, httpx.AsyncClient() as client:
            await begin(inside, "a")
            await inside.until("segment")
            took_ms = []
            for _ in range(7):
                asked_s = time.perf_counter()
                answer = await client.get(f"{server.url}/v1/speak?text=Hello.")
                took_ms.append(1000 * (time.perf_counter() - asked_s))
                assert answer.status_code == 503
                assert answer.json()["error"]["code"] == "overloaded"
                assert 1 <= int(answer.headers["retry-after"]) <= 10
            assert statistics.median(took_ms) < QUICK_MS

    async def test_a_session_too_many_is_closed_with_1013_at_once(
        self, start_server: StartServer
    ) -> None:
        server = start_server(engine__runner="tone", limits__sessions=1)
        took_ms = []
        async with talking(server.ws_url, PCM) as inside:
            for _ in range(7):
                async with talking(server.ws_url) as outside:
                    await outside.send("hello")
                    error = await outside.until("error")
                    assert (error["code"], error["fatal"]) == ("too_many_sessions", True)
                    assert error["retry_after_ms"] > 0
                    with pytest.raises(ConnectionClosed) as closed:
                        await outside.next()
                    took_ms.append(1000 * (time.perf_counter() - outside.sent_s["hello"]))
                    assert closed.value.rcvd is not None
                    assert closed.value.rcvd.code == 1013
            await inside.speak("Still here.")
        assert statistics.median(took_ms) < QUICK_MS


class TestACapacityThatIsLearned:
    async def test_is_that_of_the_machine_and_who_is_past_it_is_refused(
        self, start_server: StartServer
    ) -> None:
        """Every 160 ms of audio take 40 ms to make: four could be served, but nothing is spare."""
        server = start_server(engine__runner="tone", engine__capacity=0, engine__max_ahead_s=1.5)
        slow = "[[sleep:0.04]] and this goes on for a while, no more. "
        async with AsyncExitStack() as stack:
            talks = [await stack.enter_async_context(talking(server.ws_url, PCM)) for _ in range(8)]
            await begin(talks[0], "learn", slow)
            await talks[0].send("end", ctx="learn")
            await talks[0].until("done", ctx="learn")
            await eventually(lambda: 1 <= capacity(server) <= 4)
            admitted, others = [], []
            for talk in talks:
                await begin(talk, "a", slow)
                await talk.send("end", ctx="a")
                answer = await first_of(talk, "opened", "error")
                (admitted if answer["type"] == "opened" else others).append(talk)
            assert 1 <= len(admitted) <= 4
            assert len(others) >= 4
            await asyncio.gather(*(talk.until("done", ctx="a") for talk in admitted))
            for talk in admitted:
                (opened,) = talk.events("opened", ctx="a")
                assert gap_free(talk.audio(opened["sid"]))


def capacity(server: LiveServer) -> float:
    return server.metric('capacity{lane="all"}')


async def first_of(talk: Talk, *types: str) -> Event:
    while True:
        item = await talk.next()
        if isinstance(item, dict) and item["type"] in types:
            return item


class TestTheQueue:
    async def test_is_bounded_in_number_and_in_time(self, start_server: StartServer) -> None:
        server = start_server(
            engine__runner="tone", engine__capacity=1, engine__queue=1, engine__queue_ms=600
        )
        async with (
            talking(server.ws_url, PCM) as inside,
            talking(server.ws_url, PCM) as waiting,
            talking(server.ws_url, PCM) as outside,
        ):
            await begin(inside, "a")
            await inside.until("segment")
            await begin(waiting, "b")
            await waiting.until("opened")
            error, _ = await refused(outside, "c")
            assert error["code"] == "overloaded"
            told = await waiting.until("error", ctx="b")
            waited_ms = 1000 * (told["at_s"] - waiting.sent_s["open"])
            assert (told["code"], told["fatal"]) == ("overloaded", True)
            assert 550 <= waited_ms < 15_000
            assert not waiting.audio()

    @pytest.mark.parametrize("how", ["socket", "plain request"])
    async def test_one_that_gives_up_frees_its_place(
        self, start_server: StartServer, how: str
    ) -> None:
        server = start_server(
            engine__runner="tone", engine__capacity=1, engine__queue=1, engine__queue_ms=60_000
        )
        async with talking(server.ws_url, PCM) as inside, talking(server.ws_url, PCM) as last:
            await begin(inside, "a", LONG * 3)
            await inside.until("segment")
            async with waiting_in_vain(server, how):
                await until_refused(last)
            name = await until_opened(last)
            await last.send("text", ctx=name, delta="Only now it is my turn. ")
            await last.send("end", ctx=name)
            assert not last.audio()
            await inside.send("cancel", ctx="a")
            await last.until("done", ctx=name)
            assert last.audio()

    async def test_a_context_that_is_cancelled_in_it_never_speaks(
        self, start_server: StartServer
    ) -> None:
        server = start_server(
            engine__runner="tone", engine__capacity=1, engine__queue=2, engine__queue_ms=60_000
        )
        async with (
            talking(server.ws_url, PCM) as inside,
            talking(server.ws_url, PCM) as waiting,
            talking(server.ws_url, PCM) as behind,
        ):
            await begin(inside, "a")
            await inside.until("segment")
            await begin(waiting, "b")
            await waiting.until("opened")
            await begin(behind, "c", "I was behind. ")
            await behind.send("end", ctx="c")
            await behind.until("opened")
            await waiting.send("cancel", ctx="b")
            gone = await waiting.until("cancelled", ctx="b")
            assert (gone["audio_sent_ms"], gone["text_spoken"]) == (0, "")
            await inside.send("cancel", ctx="a")
            await behind.until("done", ctx="c")
            assert not [each for each in await waiting.quiet(0.3) if isinstance(each, Audio)]
            await waiting.speak("I can speak again.", ctx="d")


@asynccontextmanager
async def waiting_in_vain(server: LiveServer, how: str) -> AsyncIterator[None]:
    """Somebody waits in the queue, and is gone on the way out."""
    if how == "socket":
        async with talking(server.ws_url, PCM) as talk:
            await begin(talk, "b")
            await talk.until("opened")
            yield
        return
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        asking = asyncio.create_task(client.get("/v1/speak?text=Hello."))
        yield
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


async def until_refused(talk: Talk) -> None:
    for number in range(1000):
        await talk.send("open", ctx=f"try{number}")
        if (await first_of(talk, "opened", "error"))["type"] == "error":
            return
        await talk.send("cancel", ctx=f"try{number}")
        await asyncio.sleep(0.02)
    raise AssertionError("there is always room")


async def until_opened(talk: Talk) -> str:
    for number in range(1000):
        await talk.send("open", ctx=f"now{number}")
        if (await first_of(talk, "opened", "error"))["type"] == "opened":
            return f"now{number}"
        await asyncio.sleep(0.02)
    raise AssertionError("there is never room")


class TestWithOneSlot:
    @pytest.fixture
    def server(self, start_server: StartServer) -> LiveServer:
        return start_server(engine__runner="tone", engine__slots=1)

    async def test_a_session_may_interrupt_itself_and_nobody_else_gets_in_between(
        self, server: LiveServer
    ) -> None:
        async with talking(server.ws_url, PCM) as mine, talking(server.ws_url, PCM) as other:
            for number in range(5):
                await begin(mine, f"a{number}", SOME, when="interrupt")
                await mine.until("segment", ctx=f"a{number}")
                assert (await refused(other, f"b{number}"))[0]["code"] == "overloaded"
            assert len(mine.events("cancelled")) == 4
            await mine.send("end", ctx="a4")
            await mine.until("done", ctx="a4")
            assert not mine.events("error")

    async def test_it_is_free_again_after_any_number_of_cancels(self, server: LiveServer) -> None:
        async with talking(server.ws_url, PCM) as talk:
            for number in range(40):
                await begin(talk, f"a{number}")
                await talk.send("cancel", ctx=f"a{number}")
            await talk.speak("It is free.", ctx="last")
            assert not talk.events("error")
            assert len(talk.events("cancelled")) == 40
