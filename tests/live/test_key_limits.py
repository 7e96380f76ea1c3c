"""Two keys on one server, each with limits of its own, over real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from servers import LiveServer, start
from talk import talking
from websockets.exceptions import ConnectionClosed

GOLD, IRON = "gold-key-0123456789", "iron-key-0123456789"
PCM = {"audio": {"codec": "pcm_s16le"}}
KEYS = [
    {"name": "gold", "key": GOLD, "priority": 5, "sessions": 3, "contexts": 3},
    {"name": "iron", "key": IRON, "sessions": 1, "contexts": 1, "requests_per_minute": 4},
]


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    live = start(
        tmp_path_factory.mktemp("keys"), engine__runner="tone", access__api_keys=json.dumps(KEYS)
    )
    yield live
    live.stop()


async def test_each_is_told_what_it_has(server: LiveServer) -> None:
    for key, expected in ((GOLD, (3, 3, 5)), (IRON, (1, 1, 0))):
        async with talking(server.ws_url, PCM, additional_headers=bearer(key)) as talk:
            (ready,) = talk.events("ready")
        told = ready["limits"]
        assert (told["sessions_per_key"], told["contexts"], told["priority"]) == expected


async def test_a_priority_above_the_keys_is_lowered_and_told(server: LiveServer) -> None:
    async with talking(server.ws_url, PCM, additional_headers=bearer(IRON)) as talk:
        await talk.speak("Hello.", ctx="a", priority=5)
        assert [each["option"] for each in talk.events("warning")] == ["priority"]
        await talk.speak("Hello.", ctx="b", priority=-5)
        assert len(talk.events("warning")) == 1


async def test_one_session_too_many_is_closed_with_1013_and_the_other_key_has_its_own(
    server: LiveServer,
) -> None:
    async with talking(server.ws_url, PCM, additional_headers=bearer(IRON)) as first:
        async with talking(server.ws_url, additional_headers=bearer(IRON)) as second:
            await second.send("hello", **PCM)
            refused = await second.until("error")
            assert (refused["code"], refused["fatal"]) == ("too_many_sessions", True)
            assert refused["retry_after_ms"] > 0
            with pytest.raises(ConnectionClosed) as closed:
                await second.next()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1013
        async with talking(server.ws_url, PCM, additional_headers=bearer(GOLD)) as other:
            await other.speak("Hello.")
        await first.speak("Hello.")


async def test_contexts_of_sessions_and_of_plain_requests_count_together(
    server: LiveServer,
) -> None:
    async with (
        talking(server.ws_url, PCM, additional_headers=bearer(IRON)) as talk,
        httpx.AsyncClient(base_url=server.url, headers=bearer(IRON)) as client,
    ):
        await talk.send("open", ctx="a")
        await talk.until("opened")
        await talk.send("open", ctx="b")
        refused = await talk.until("error", ctx="b")
        assert (refused["code"], refused["status"]) == ("too_many_contexts", 429)
        answer = await client.get("/v1/speak?text=Hello.")
        assert answer.status_code == 429
        assert answer.json()["error"]["code"] == "too_many_contexts"
        await talk.send("cancel", ctx="a")
        await talk.until("cancelled")
        assert (await client.get("/v1/speak?text=Hello.")).status_code == 200
        await talk.speak("Hello.", ctx="c")


async def test_requests_a_minute_are_the_keys_own(server: LiveServer) -> None:
    async def statuses(key: str) -> list[int]:
        async with httpx.AsyncClient(base_url=server.url, headers=bearer(key)) as client:
            return [(await client.post("/v1/tokens")).status_code for _ in range(6)]

    assert 429 in await statuses(IRON)
    assert set(await statuses(GOLD)) == {200}
