"""Keys, tokens and their bounds over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from servers import LiveServer, start
from talk import Event, Talk, talking
from websockets.exceptions import ConnectionClosed

SHOP, PHONE = "shop-key-0123456789", "phone-key-0123456789"
APP = "https://app.example"
HELLO = {"audio": {"codec": "pcm_s16le"}, "pacing": {"lead_ms": None}}


@pytest.fixture(scope="module")
def keyed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server that asks for keys, and logs all there is to log."""
    server = start(
        tmp_path_factory.mktemp("keyed"),
        engine__runner="tone",
        access__api_keys=f"shop:{SHOP},phone:{PHONE}",
        access__allowed_origins=APP,
        log__level="debug",
    )
    yield server
    server.stop()


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def mint(server: LiveServer, key: str = SHOP, **asked: Any) -> httpx.Response:
    return httpx.post(f"{server.url}/v1/tokens", json=asked, headers=bearer(key))


def minted(server: LiveServer, key: str = SHOP, **asked: Any) -> str:
    answer = mint(server, key, **asked)
    assert answer.status_code == 200, answer.text
    assert answer.json()["expires_in_s"] == asked.get("ttl_s", 60)
    return str(answer.json()["token"])


async def hello_if_still_there(talk: Talk) -> None:
    """Say hello to a server that may have refused by itself already."""
    with contextlib.suppress(ConnectionClosed):
        await talk.send("hello")


async def refusal(talk: Talk, code: str, close_code: int) -> Event:
    """The error in words, and then the close."""
    error = await talk.until("error")
    assert (error["code"], error["fatal"]) == (code, True)
    with pytest.raises(ConnectionClosed) as closed:
        await talk.next()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (close_code, code)
    return error


class TestKeys:
    async def test_whoever_has_one_speaks(self, keyed_server: LiveServer) -> None:
        for key in (SHOP, PHONE):
            async with talking(keyed_server.ws_url, HELLO, additional_headers=bearer(key)) as talk:
                await talk.speak("Hello.")

    @pytest.mark.parametrize(
        "headers",
        [{}, bearer("wrong"), bearer(SHOP[:-1]), {"Authorization": f"Basic {SHOP}"}],
        ids=["none", "wrong", "cut", "basic"],
    )
    async def test_anybody_else_is_told_in_words_and_closed_with_1008(
        self, keyed_server: LiveServer, headers: dict[str, str]
    ) -> None:
        async with talking(keyed_server.ws_url, additional_headers=headers) as talk:
            error = await refusal(talk, "unauthorized", 1008)
        assert error["status"] == 401
        assert SHOP[:-1] not in error["message"]

    async def test_in_the_query_or_as_a_subprotocol_a_key_is_none(
        self, keyed_server: LiveServer
    ) -> None:
        async with talking(f"{keyed_server.ws_url}?token={SHOP}") as talk:
            await refusal(talk, "unauthorized", 1008)
        offered = ["cosystream.v1", f"token.{SHOP}"]
        async with talking(keyed_server.ws_url, subprotocols=offered) as talk:
            await refusal(talk, "unauthorized", 1008)

    async def test_http_asks_for_one_too_except_for_health(self, keyed_server: LiveServer) -> None:
        async with httpx.AsyncClient(base_url=keyed_server.url) as client:
            for path in ("/v1/speak?text=Hi.", "/v1/voices"):
                answer = await client.get(path)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert (await client.get(path, headers=bearer(SHOP))).status_code == 200
            assert (await client.post("/v1/tokens")).status_code == 401
            for path in ("/healthz", "/readyz", "/"):
                assert (await client.get(path)).status_code == 200

    async def test_a_key_does_not_open_the_door_to_a_foreign_page(
        self, keyed_server: LiveServer
    ) -> None:
        async with talking(
            keyed_server.ws_url, additional_headers=bearer(SHOP), origin="https://evil.example"
        ) as talk:
            error = await refusal(talk, "forbidden_origin", 1008)
        assert "access.allowed_origins" in error["message"]
        assert '"https://evil.example"' in error["message"]


class TestTokens:
    async def test_one_comes_as_a_subprotocol_beside_ours(self, keyed_server: LiveServer) -> None:
        offered = ["cosystream.v1", f"token.{minted(keyed_server)}"]
        async with talking(keyed_server.ws_url, HELLO, subprotocols=offered) as talk:
            assert talk.socket.subprotocol == "cosystream.v1"
            await talk.speak("Hello.")

    async def test_or_in_the_query(self, keyed_server: LiveServer) -> None:
        async with talking(f"{keyed_server.ws_url}?token={minted(keyed_server)}", HELLO) as talk:
            await talk.speak("Hello.")

    async def test_or_as_bearer(self, keyed_server: LiveServer) -> None:
        headers = bearer(minted(keyed_server))
        async with talking(keyed_server.ws_url, HELLO, additional_headers=headers) as talk:
            await talk.speak("Hello.")

    @pytest.mark.parametrize("while_open", [True, False])
    async def test_it_opens_one_session(self, keyed_server: LiveServer, while_open: bool) -> None:
        url = f"{keyed_server.ws_url}?token={minted(keyed_server)}"
        async with talking(url, HELLO) as first:
            await first.speak("Hello.")
            if while_open:
                async with talking(url) as second:
                    await second.send("hello")
                    await refusal(second, "unauthorized", 1008)
                await first.speak("Still here.")
        async with talking(url) as third:
            await hello_if_still_there(third)
            await refusal(third, "unauthorized", 1008)

    async def test_of_many_that_come_at_once_with_it_one_gets_in(
        self, keyed_server: LiveServer
    ) -> None:
        url = f"{keyed_server.ws_url}?token={minted(keyed_server)}"

        async def attempt() -> str:
            async with talking(url) as talk:
                await talk.send("hello")
                answer = await talk.next()
                assert isinstance(answer, dict)
                await asyncio.sleep(0.2)
                return str(answer["type"])

        answers = await asyncio.gather(*(attempt() for _ in range(8)))
        assert sorted(answers) == ["error"] * 7 + ["ready"]

    async def test_it_resumes_the_session_it_opened(self, keyed_server: LiveServer) -> None:
        url = f"{keyed_server.ws_url}?token={minted(keyed_server, ttl_s=1)}"
        async with talking(url, {"audio": {"codec": "pcm_s16le"}}) as one:
            await one.send("text", delta="This is spoken over two connections.")
            await one.send("end")
            await one.until_audio()
            one.socket.transport.abort()
        await asyncio.sleep(1.1)  # its time to begin is over; its session is not
        ready = one.events("ready")[0]
        last_seq = one.audio()[-1].seq
        resume = {"session": ready["session"], "token": ready["resume_token"], "last_seq": last_seq}
        async with talking(url, {"resume": resume}) as two:
            assert two.events("ready")[0]["resumed"] is True
            await two.until("done")

    async def test_resuming_a_session_that_is_gone_it_opens_no_other(
        self, keyed_server: LiveServer
    ) -> None:
        url = f"{keyed_server.ws_url}?token={minted(keyed_server)}"
        async with talking(url, HELLO) as one:
            pass
        ready = one.events("ready")[0]
        resume = {"session": ready["session"], "token": ready["resume_token"], "last_seq": 0}
        async with talking(url) as two:
            with contextlib.suppress(ConnectionClosed):
                await two.send("hello", resume=resume)
            await refusal(two, "unauthorized", 1008)

    async def test_it_expires(self, keyed_server: LiveServer) -> None:
        url = f"{keyed_server.ws_url}?token={minted(keyed_server, ttl_s=1)}"
        await asyncio.sleep(1.1)
        async with talking(url) as talk:
            error = await refusal(talk, "unauthorized", 1008)
        assert "expired" in error["message"]

    @pytest.mark.parametrize("token", ["", "cst_guess", "cst_" + "A" * 43, "../../x", "%00"])
    async def test_a_made_up_one_is_none(self, keyed_server: LiveServer, token: str) -> None:
        async with talking(f"{keyed_server.ws_url}?token={token}") as talk:
            await refusal(talk, "unauthorized", 1008)

    async def test_bound_to_a_page_it_is_for_that_page(self, keyed_server: LiveServer) -> None:
        url = f"{keyed_server.ws_url}?token={minted(keyed_server, origin=APP)}"
        for origin in (None, "http://localhost:3000"):
            async with talking(url, origin=origin) as talk:
                error = await refusal(talk, "unauthorized", 1008)
            assert APP in error["message"]
        async with talking(url, HELLO, origin=APP) as talk:
            await talk.speak("Hello.")

    async def test_it_covers_its_voices_alone(self, keyed_server: LiveServer) -> None:
        url = f"{keyed_server.ws_url}?token={minted(keyed_server, voices=['tone-b'])}"
        async with talking(url, HELLO) as talk:
            for fields in ({"ctx": "a", "voice": "tone-a"}, {"ctx": "b"}):
                await talk.send("open", **fields)
                error = await talk.until("error")
                assert (error["code"], error["status"]) == ("not_allowed", 403)
                assert error["fatal"] is False
                assert "tone-b" in error["message"]
            await talk.send("text", delta="The default voice is none of them.")
            assert (await talk.until("error"))["code"] == "not_allowed"
            await talk.speak("Hello.", ctx="c", voice="tone-b")

    async def test_it_covers_so_many_characters_over_all_contexts(
        self, keyed_server: LiveServer
    ) -> None:
        url = f"{keyed_server.ws_url}?token={minted(keyed_server, max_characters=12)}"
        async with talking(url, HELLO) as talk:
            await talk.speak("12345 78.", ctx="a")
            await talk.send("open", ctx="b")
            await talk.send("text", ctx="b", delta="1234")
            error = await talk.until("error")
            await talk.send("text", ctx="b", delta="1.")
            await talk.send("end", ctx="b")
            await talk.until("done")
        assert (error["code"], error["ctx"], error["fatal"]) == ("not_allowed", "b", False)
        assert "12" in error["message"]
        assert [segment["text"] for segment in talk.events("segment", ctx="b")] == ["1."]

    async def test_a_request_over_http_uses_it_up_and_a_refused_one_does_not(
        self, keyed_server: LiveServer
    ) -> None:
        token = minted(keyed_server, voices=["tone-b"], max_characters=5)
        asked = {"text": "Hi.", "voice": "tone-b"}
        statuses = []
        async with httpx.AsyncClient(base_url=keyed_server.url) as client:
            for method, query in (
                ("GET", {**asked, "voice": "tone-a"}),
                ("GET", {**asked, "text": "Far too long."}),
                ("GET", {**asked, "speed": 99}),
                ("HEAD", asked),
                ("GET", asked),
                ("GET", asked),
            ):
                params = {**query, "token": token}
                statuses.append(
                    (await client.request(method, "/v1/speak", params=params)).status_code
                )
        assert statuses == [403, 403, 400, 200, 200, 401]

    async def test_it_makes_no_others(self, keyed_server: LiveServer) -> None:
        answer = mint(keyed_server, minted(keyed_server))
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "not_allowed"

    @pytest.mark.parametrize(
        ("asked", "field"),
        [
            ({"ttl_s": 0}, "ttl_s"),
            ({"ttl_s": 3601}, "ttl_s"),
            ({"ttl_s": "60"}, "ttl_s"),
            ({"origin": "app.example"}, "origin"),
            ({"voices": []}, "voices"),
            ({"voices": "tone-a"}, "voices"),
            ({"max_characters": 0}, "max_characters"),
            ({"lifetime": 5}, "lifetime"),
        ],
    )
    async def test_what_cannot_be_is_refused_by_its_field(
        self, keyed_server: LiveServer, asked: dict[str, Any], field: str
    ) -> None:
        answer = mint(keyed_server, **asked)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "invalid_value"
        assert field in answer.json()["error"]["message"]


async def test_no_key_and_no_token_ever_reaches_the_log(keyed_server: LiveServer) -> None:
    token, spent, wrong = minted(keyed_server), minted(keyed_server), "wrong-key-9876543210"
    async with talking(f"{keyed_server.ws_url}?token={token}", HELLO) as talk:
        resume_token = talk.events("ready")[0]["resume_token"]
        await talk.speak("Hello.")
    offered = ["cosystream.v1", f"token.{spent}"]
    async with talking(keyed_server.ws_url, HELLO, subprotocols=offered) as talk:
        await talk.speak("Hello.")
    for url, options in (
        (f"{keyed_server.ws_url}?token={token}", {}),
        (keyed_server.ws_url, {"subprotocols": [f"token.{spent}"]}),
        (keyed_server.ws_url, {"additional_headers": bearer(wrong)}),
    ):
        async with talking(url, **options) as talk:
            await hello_if_still_there(talk)
            await talk.until("error")
    async with httpx.AsyncClient(base_url=keyed_server.url) as client:
        await client.get(f"/v1/speak?text=Hi.&token={token}")
        await client.get(f"/nowhere?token={token}", headers=bearer(SHOP))
    await asyncio.sleep(0.1)
    log = keyed_server.log
    assert "session began" in log
    assert "Hello." not in log
    for secret in (token, spent, resume_token, SHOP, PHONE, wrong):
        assert secret not in log


async def test_the_log_names_the_key_and_not_its_value(keyed_server: LiveServer) -> None:
    async with talking(keyed_server.ws_url, HELLO, additional_headers=bearer(PHONE)):
        pass
    assert '"client": "phone"' in keyed_server.log


async def test_one_keys_sessions_are_bounded_and_anothers_are_not(start_server) -> None:
    server = start_server(
        engine__runner="tone",
        access__api_keys=f"shop:{SHOP},phone:{PHONE}",
        limits__sessions_per_key=2,
    )
    shop, phone = ({"additional_headers": bearer(key)} for key in (SHOP, PHONE))
    async with talking(server.ws_url, {}, **shop), talking(server.ws_url, {}, **shop):
        async with talking(server.ws_url, **shop) as third:
            await third.send("hello")
            error = await refusal(third, "too_many_sessions", 1013)
            assert error["retry_after_ms"] > 0
        # A token of that key counts with it.
        async with talking(f"{server.ws_url}?token={minted(server)}") as fourth:
            await fourth.send("hello")
            await refusal(fourth, "too_many_sessions", 1013)
        async with talking(server.ws_url, {}, **phone) as other:
            await other.speak("Hello.")
    async with talking(server.ws_url, HELLO, **shop) as again:
        await again.speak("There is room again.")


async def test_rates_are_counted_by_key(start_server) -> None:
    server = start_server(
        engine__runner="tone",
        access__api_keys=f"shop:{SHOP},phone:{PHONE}",
        access__requests_per_minute=2,
    )
    statuses = [mint(server, key).status_code for key in (SHOP, SHOP, SHOP, PHONE)]
    assert statuses == [200, 200, 429, 200]


async def test_an_unspent_token_past_their_number_is_told_when(start_server) -> None:
    server = start_server(
        engine__runner="tone", access__api_keys=f"shop:{SHOP}", access__tokens_max=1
    )
    first = minted(server, ttl_s=1)
    answer = mint(server)
    assert answer.status_code == 429
    assert 0 < answer.json()["error"]["retry_after_ms"] <= 1_000
    await asyncio.sleep(1.05)
    assert minted(server) != first


async def test_a_client_that_never_says_hello_is_closed_like_any_idle_one(start_server) -> None:
    server = start_server(engine__runner="tone", limits__idle_s=0.4)
    async with talking(server.ws_url) as talk:
        await refusal(talk, "idle_timeout", 4008)
