"""Text that is numbered, so that it can be sent again."""

from __future__ import annotations

from protocol_rig import PCM
from servers import LiveServer
from talk import talking


async def test_numbered_text_is_accepted_once(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, PCM) as talk:
        await talk.send("open", ctx="a")
        for seq, delta in ((1, "One "), (2, "two "), (2, "two "), (1, "One "), (3, "three.")):
            await talk.send("text", ctx="a", delta=delta, seq=seq)
        await talk.send("text", ctx="a", delta="five", seq=5)
        gap = await talk.until("error")
        await talk.send("end", ctx="a")
        await talk.until("done")
    assert "".join(segment["text"] for segment in talk.events("segment")) == "One two three."
    assert gap["code"] == "text_gap"
    assert "4" in gap["message"]


async def test_numbered_text_sent_again_costs_nothing_wherever_it_comes(start_server) -> None:
    server = start_server(engine__runner="tone", limits__text_chars=20)
    async with talking(server.ws_url, PCM) as talk:
        for _ in range(3):
            await talk.send("text", delta="Fifteen chars. ", seq=1)
        await talk.send("text", delta="Five.", seq=2)
        await talk.send("end")
        await talk.send("open", ctx="b")
        await talk.send("text", ctx="b", delta="Long enough to be refused.", seq=1)
        refused = await talk.until("error")
        await talk.send("text", ctx="b", delta="Short.", seq=1)
        await talk.send("end", ctx="b")
        await talk.send("text", ctx="b", delta="Short.", seq=1)
        await talk.until("done", ctx="b")
    assert refused["code"] == "text_too_long"
    assert len(talk.events("error")) == 1
    spoken = "".join(segment["text"] for segment in talk.events("segment"))
    assert spoken == "Fifteen chars. Five.Short."


async def test_a_number_skipped_at_the_very_first_opens_nothing(tone_server: LiveServer) -> None:
    async with talking(tone_server.ws_url, PCM) as talk:
        await talk.send("text", delta="Second.", seq=2)
        error = await talk.until("error")
        await talk.send("cancel")
        await talk.until("warning", code="not_active")
    assert error["code"] == "text_gap"
    assert not talk.events("opened")
