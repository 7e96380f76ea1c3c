"""More listeners than a server can serve in time: who waits, who is told to come back."""

from talk import talking

PCM = {"audio": {"codec": "pcm_s16le"}}

LONG = "This text is long enough to be heard for several seconds, and it goes on for a while. "


async def test_one_more_listener_is_refused_at_once_and_those_inside_hear_no_gap(start_server):
    server = start_server(engine__runner="tone", engine__capacity=1)
    async with talking(server.ws_url, PCM) as inside, talking(server.ws_url, PCM) as outside:
        await inside.send("open", ctx="a")
        await inside.send("text", ctx="a", delta=LONG)
        await inside.until("segment")
        await outside.send("open", ctx="b")
        refused = await outside.until("error")
        assert (refused["code"], refused["status"]) == ("overloaded", 503)
        assert refused["retryable"]
        assert refused["retry_after_ms"] > 0
        await inside.send("end", ctx="a")
        await inside.until("done", ctx="a")
        await outside.speak("Now there is room.", ctx="c")


async def test_a_session_may_queue_what_it_hears_one_after_another(start_server):
    server = start_server(engine__runner="tone", engine__capacity=1)
    async with talking(server.ws_url, PCM) as talk:
        for name in ("a", "b", "c"):
            await talk.send("open", ctx=name)
            await talk.send("text", ctx=name, delta=f"Context {name}. ")
        for name in ("a", "b", "c"):
            await talk.send("end", ctx=name)
            await talk.until("done", ctx=name)
    assert not talk.events("error")


async def test_who_may_wait_is_heard_when_there_is_room(start_server):
    server = start_server(engine__runner="tone", engine__capacity=1, engine__queue=1)
    async with talking(server.ws_url, PCM) as first, talking(server.ws_url, PCM) as second:
        await first.send("open", ctx="a")
        await first.send("text", ctx="a", delta=LONG)
        await first.until("segment")
        await second.send("open", ctx="b")
        await second.send("text", ctx="b", delta="I can wait. ")
        await second.send("end", ctx="b")
        assert not second.audio()
        await first.send("cancel", ctx="a")
        await second.until("done", ctx="b")
        assert second.audio()


async def test_who_has_waited_too_long_is_told_when_to_come_back(start_server):
    server = start_server(
        engine__runner="tone", engine__capacity=1, engine__queue=1, engine__queue_ms=200
    )
    async with talking(server.ws_url, PCM) as first, talking(server.ws_url, PCM) as second:
        await first.send("open", ctx="a")
        await first.send("text", ctx="a", delta=LONG)
        await first.until("segment")
        await second.send("open", ctx="b")
        refused = await second.until("error", ctx="b")
        assert refused["code"] == "overloaded"
        assert refused["retry_after_ms"] > 0
        await first.send("end", ctx="a")
        await first.until("done", ctx="a")


async def test_the_server_knows_its_capacity(start_server):
    server = start_server(engine__runner="embedded", engine__capacity=0)
    async with talking(server.ws_url, PCM) as talk:
        for number in range(3):
            await talk.speak("The server learns what a sentence costs.", ctx=f"a{number}")
    page = server.get("/metrics").decode()
    known = 'cosystream_capacity{lane="all"}'
    (line,) = (line for line in page.splitlines() if line.startswith(known))
    assert 1 <= float(line.split()[-1]) <= 1024
