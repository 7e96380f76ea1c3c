"""What is spoken, over real sockets: words as the client wrote them, lexicon, reasoning."""

from __future__ import annotations

from servers import LiveServer
from talk import talking

FAST = {"pacing": {"lead_ms": None}}


async def test_words_are_told_as_the_client_wrote_them(live_server: LiveServer) -> None:
    # NOR-08
    text = "Lunch is $15 at 12:45PM, see you there."
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", timestamps=True)
        await talk.send("text", ctx="a", delta=text)
        await talk.send("end", ctx="a")
        await talk.until("done")
        (segment,) = talk.events("segment")
        words = [item for event in talk.events("words") for item in event["items"]]
    assert segment["text"] == text
    assert [word["text"] for word in words] == text.replace(",", "").rstrip(".").split()
    assert all(text[word["char_start"] : word["char_end"]] == word["text"] for word in words)
    by_text = {word["text"]: word["end_ms"] - word["start_ms"] for word in words}
    assert by_text["12:45PM"] > 2 * by_text["Lunch"]


async def test_reasoning_is_dropped_where_that_was_asked(live_server: LiveServer) -> None:
    # NOR-19
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", reasoning="drop")
        for delta in ("<thi", "nk>they want a number</th", "ink>", "It is 42."):
            await talk.send("text", ctx="a", delta=delta)
        await talk.send("end", ctx="a")
        dropped = await talk.until("done")
        await talk.send("open", ctx="b")
        await talk.send("text", ctx="b", delta="It is 42.")
        await talk.send("end", ctx="b")
        plain = await talk.until("done", ctx="b")
    assert dropped["samples"] == plain["samples"]


async def test_a_lexicon_changes_what_is_heard_and_not_what_is_shown(
    live_server: LiveServer,
) -> None:
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", lexicon=[{"text": "GIF", "say": "graphics interchange"}])
        await talk.send("open", ctx="b")
        for ctx in "ab":
            await talk.send("text", ctx=ctx, delta="A GIF.")
            await talk.send("end", ctx=ctx)
        longer = await talk.until("done", ctx="a")
        shorter = await talk.until("done", ctx="b")
        assert {event["text"] for event in talk.events("segment")} == {"A GIF."}
    assert longer["audio_ms"] > 1.3 * shorter["audio_ms"]


async def test_a_lexicon_that_cannot_be_is_refused(live_server: LiveServer) -> None:
    entry = {"text": "GIF", "say": "jif"}
    async with talking(live_server.ws_url, FAST) as talk:
        for lexicon in ([entry] * 201, [{"text": "", "say": "x"}], [{"say": "x"}], "GIF"):
            await talk.send("open", ctx="a", lexicon=lexicon)
            error = await talk.until("error")
            assert (error["code"], error["fatal"]) == ("invalid_value", False)


async def test_dashscopes_form_of_a_lexicon_is_understood(live_server: LiveServer) -> None:
    fix = {"replace": [{"GIF": "graphics interchange"}], "pronunciation": [{"天气": "tian1 qi4"}]}
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", lexicon=fix)
        await talk.send("open", ctx="b", lexicon=[{"text": "GIF", "say": "graphics interchange"}])
        for ctx in "ab":
            await talk.send("text", ctx=ctx, delta="A GIF.")
            await talk.send("end", ctx=ctx)
        theirs = await talk.until("done", ctx="a")
        ours = await talk.until("done", ctx="b")
        assert theirs["samples"] == ours["samples"]
        for wrong in ({"pronunciation": [{"天气": "tian1 qqq4"}]}, {"replace": {"a": "b"}}):
            await talk.send("open", ctx="c", lexicon=wrong)
            error = await talk.until("error")
            assert error["code"] == "invalid_value"


async def test_phones_are_spoken_in_place_of_the_word(live_server: LiveServer) -> None:
    long = "HH AH0 L OW1 DH EH1 R HH AH0 L OW1 DH EH1 R"
    async with talking(live_server.ws_url, FAST) as talk:
        await talk.send("open", ctx="a", lexicon=[{"text": "GIF", "arpabet": long}])
        await talk.send("open", ctx="b")
        for ctx in "ab":
            await talk.send("text", ctx=ctx, delta="A GIF.")
            await talk.send("end", ctx=ctx)
        longer = await talk.until("done", ctx="a")
        shorter = await talk.until("done", ctx="b")
        assert longer["audio_ms"] > 1.3 * shorter["audio_ms"]
        await talk.send("open", ctx="c", lexicon=[{"text": "GIF", "arpabet": "JH IX F"}])
        error = await talk.until("error")
    assert "IX" in error["message"]
