"""Voices made of recordings, over real sockets: they speak, belong to somebody, and outlive us."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from recordings import a_recording
from servers import LiveServer, StartServer
from talk import decode_file, talking
from voicing import (
    FORM,
    PHONE,
    SHOP,
    asking,
    bearer,
    code_of,
    heard_hz,
    kept,
    listed,
    made,
    pitch_hz,
    send,
)

from streaming.runners.tone import clone_hz

PCM = {"audio": {"codec": "pcm_s16le"}, "pacing": {"lead_ms": None}}


class TestMaking:
    async def test_a_voice_is_listed_shown_heard_and_removed(
        self, shop: httpx.AsyncClient, voice_server: LiveServer
    ) -> None:
        answer = await send(shop)
        voice = answer.json()
        assert answer.status_code == 201
        assert {key: voice[key] for key in FORM} == FORM
        assert (voice["cloned"], voice["warnings"]) == (True, [])
        assert 5_000 < voice["duration_ms"] <= 6_000

        shown = (await shop.get(f"/v1/voices/{voice['id']}")).json()
        assert shown == {key: value for key, value in voice.items() if key != "warnings"}
        assert (await shop.get("/v1/voices")).json()["voices"][-1] == shown
        recording = await shop.get(f"/v1/voices/{voice['id']}/audio")
        assert recording.headers["content-type"] == "audio/wav"
        samples, rate = decode_file(recording.content)
        assert (rate, len(samples) * 1000 // rate) == (24_000, voice["duration_ms"])

        (stored,) = kept(voice_server).glob("audio/*.wav")
        assert await heard_hz(shop, voice["id"]) == pytest.approx(clone_hz(stored.stem), abs=1)

        assert (await shop.delete(f"/v1/voices/{voice['id']}")).status_code == 204
        assert voice["id"] not in await listed(shop)
        assert [path for path in kept(voice_server).rglob("*") if path.is_file()] == []

    async def test_it_speaks_over_the_websocket_by_its_id(
        self, shop: httpx.AsyncClient, voice_server: LiveServer
    ) -> None:
        voice = await made(shop)
        async with talking(voice_server.ws_url, PCM, additional_headers=bearer(SHOP)) as talk:
            await talk.speak("Good morning.", ctx="a", voice=voice)
            assert talk.events("opened")[0]["voice"] == voice
            own_hz = pitch_hz(talk.pcm().astype(float), 24_000)
        assert own_hz == pytest.approx(await heard_hz(shop, voice), abs=5)

    async def test_what_is_sent_again_is_the_same_voice(self, shop: httpx.AsyncClient) -> None:
        first = await send(shop)
        again = await send(shop)
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json()["id"] == again.json()["id"]

    async def test_a_recording_is_kept_once_for_all_voices(
        self, shop: httpx.AsyncClient, phone: httpx.AsyncClient, voice_server: LiveServer
    ) -> None:
        mine, theirs = await made(shop), await made(phone)
        assert mine != theirs
        assert len(list(kept(voice_server).glob("audio/*.wav"))) == 1
        await shop.delete(f"/v1/voices/{mine}")
        assert await heard_hz(phone, theirs) > 5_000
        await phone.delete(f"/v1/voices/{theirs}")

    async def test_who_speaks_while_it_is_removed_may_finish(
        self, shop: httpx.AsyncClient, voice_server: LiveServer
    ) -> None:
        voice = await made(shop)
        hello = {"audio": {"codec": "pcm_s16le"}, "pacing": {"lead_ms": 400}}
        async with talking(voice_server.ws_url, hello, additional_headers=bearer(SHOP)) as talk:
            await talk.send("open", ctx="a", voice=voice)
            await talk.send("text", ctx="a", delta="A sentence of some length.")
            await talk.send("end", ctx="a")
            await talk.until_audio()
            assert (await shop.delete(f"/v1/voices/{voice}")).status_code == 204
            await talk.send("open", ctx="b", voice=voice)
            assert (await talk.until("error"))["code"] == "unknown_voice"
            assert (await talk.until("done"))["ctx"] == "a"

    async def test_twenty_first_requests_for_a_fresh_voice_are_all_good(
        self, shop: httpx.AsyncClient
    ) -> None:  # CAC-05
        voice = await made(shop)
        heard = await asyncio.gather(*(heard_hz(shop, voice) for _ in range(20)))
        assert len(set(heard)) == 1

    async def test_twelve_at_once_over_four_voices_are_each_heard_in_their_own(
        self, shop: httpx.AsyncClient
    ) -> None:  # CON-03
        recordings = (a_recording(5.0), a_recording(6.0))
        made_here = [await made(shop, each, name=f"voice {len(each)}") for each in recordings]
        voices = ["tone-a", "tone-b", *made_here]
        alone = [await heard_hz(shop, voice) for voice in voices]
        assert len(set(alone)) == 4
        assert await asyncio.gather(*(heard_hz(shop, voice) for voice in voices * 3)) == alone * 3

    async def test_a_changed_recording_is_another_voice(
        self, shop: httpx.AsyncClient
    ) -> None:  # CAC-01
        before = await made(shop, a_recording(5.0), file="r.wav")
        after = await made(shop, a_recording(6.0), file="r.wav")
        assert before != after
        assert await heard_hz(shop, before) != await heard_hz(shop, after)

    async def test_voices_outlive_a_restart(
        self, start_server: StartServer, tmp_path: Path
    ) -> None:
        settings = {"engine__runner": "tone", "engine__voices_dir": tmp_path / "kept"}
        first = start_server(**settings)
        async with asking(first) as client:
            voice = await made(client)
            hz = await heard_hz(client, voice)
        first.stop()
        second = start_server(**settings)
        async with asking(second) as client:
            assert voice in await listed(client)
            assert await heard_hz(client, voice) == hz


class TestOwners:
    """A voice of another key is one that does not exist, whichever way it is asked for."""

    async def test_over_http(self, shop: httpx.AsyncClient, phone: httpx.AsyncClient) -> None:
        voice = await made(shop)
        nobodys = "v-aaaaaaaaaaaaaaaaaaaa"

        assert voice not in await listed(phone)
        for method, path in (
            ("GET", "/v1/voices/{}"),
            ("GET", "/v1/voices/{}/audio"),
            ("DELETE", "/v1/voices/{}"),
            ("GET", "/v1/speak?text=Hello&voice={}"),
        ):
            theirs = await phone.request(method, path.format(voice))
            none = await phone.request(method, path.format(nobodys))
            assert code_of(theirs) == "unknown_voice"
            assert theirs.text.replace(voice, "") == none.text.replace(nobodys, "")
        assert await heard_hz(shop, voice) > 5_000

    async def test_over_the_websocket_with_a_key_and_with_a_token_that_names_it(
        self, shop: httpx.AsyncClient, phone: httpx.AsyncClient, voice_server: LiveServer
    ) -> None:
        voice = await made(shop)
        token = (await phone.post("/v1/tokens", json={"voices": [voice]})).json()["token"]
        for url, headers in (
            (voice_server.ws_url, bearer(PHONE)),
            (f"{voice_server.ws_url}?token={token}", {}),
        ):
            async with talking(url, PCM, additional_headers=headers) as talk:
                await talk.send("open", ctx="a", voice=voice)
                error = await talk.until("error")
                assert error["code"] == "unknown_voice"
                assert "tone-a" in error["message"]

    async def test_a_name_is_never_a_way_to_a_voice(
        self, shop: httpx.AsyncClient, phone: httpx.AsyncClient
    ) -> None:  # CAC-03
        await made(shop, name="tone-a")
        assert await heard_hz(phone, "tone-a") == pytest.approx(200, abs=1)
        assert await heard_hz(shop, "tone-a") == pytest.approx(200, abs=1)

    async def test_a_token_speaks_with_its_keys_voices_and_does_nothing_else_with_them(
        self, shop: httpx.AsyncClient, voice_server: LiveServer
    ) -> None:
        voice, other = await made(shop), await made(shop, name="Other")

        async def token(**asked: Any) -> dict[str, str]:
            return {"token": (await shop.post("/v1/tokens", json=asked)).json()["token"]}

        async with asking(voice_server) as page:
            narrow = await token(voices=[voice])
            named = await page.get("/v1/voices", params=narrow)
            assert [each["id"] for each in named.json()["voices"]] == [voice]
            spoken = {"text": "Hello.", "voice": voice}
            assert (await page.get("/v1/speak", params=narrow | spoken)).status_code == 200
            for method, path in (
                ("POST", "/v1/voices"),
                ("GET", f"/v1/voices/{voice}/audio"),
                ("DELETE", f"/v1/voices/{voice}"),
            ):
                answer = await page.request(method, path, params=await token())
                assert code_of(answer) == "not_allowed"
            hidden = await page.get(f"/v1/voices/{other}", params=await token(voices=[voice]))
            assert code_of(hidden) == "unknown_voice"
        assert {voice, other} <= set(await listed(shop))

    async def test_the_engines_own_voices_are_nobodys_to_remove(
        self, shop: httpx.AsyncClient
    ) -> None:
        answer = await shop.delete("/v1/voices/tone-a")
        assert (answer.status_code, code_of(answer)) == (403, "not_allowed")

    async def test_without_a_key_there_is_no_voice_to_be_made(
        self, voice_server: LiveServer
    ) -> None:
        async with asking(voice_server) as nobody:
            assert code_of(await send(nobody)) == "unauthorized"

    async def test_a_page_of_another_origin_may_ask_where_it_is_allowed(
        self, voice_server: LiveServer
    ) -> None:
        async with asking(voice_server) as page:
            for origin, status in (("https://app.example", 204), ("https://other.example", 403)):
                answer = await page.options("/v1/voices/v-x", headers={"Origin": origin})
                assert answer.status_code == status
            allowed = await page.options(
                "/v1/voices/v-x", headers={"Origin": "https://app.example"}
            )
            assert "DELETE" in allowed.headers["access-control-allow-methods"]


async def test_changed_options_change_the_sound(voice_server: LiveServer) -> None:  # CAC-04
    asked: list[dict[str, Any]] = [
        {},
        {"speed": 1.2},
        {"seed": 2},
        {"voice": "tone-b"},
        {"format": "mp3"},
        {"format": "opus"},
        {"lexicon": [{"text": "there", "say": "over where"}]},
    ]
    async with asking(voice_server, SHOP) as client:
        sounds = [
            (await client.post("/v1/speak", json={"text": "Hello there.", "format": "wav"} | each))
            for each in asked
        ]
        again = await client.post("/v1/speak", json={"text": "Hello there.", "format": "wav"})
    contents = [sound.content for sound in sounds]
    assert len(set(contents)) == len(asked)
    assert again.content == contents[0]


async def test_voices_that_come_and_go_leave_no_memory_behind(
    shop: httpx.AsyncClient, voice_server: LiveServer
) -> None:  # MEM-04
    async def come_and_go(times: int) -> None:
        for index in range(times):
            voice = await made(shop, name=f"voice {index}")
            await heard_hz(shop, voice)
            await shop.delete(f"/v1/voices/{voice}")

    def rss_mib() -> float:
        server = psutil.Process(voice_server.process.pid)
        family = [server, *server.children(recursive=True)]
        return sum(process.memory_info().rss for process in family) / 2**20

    await come_and_go(8)
    before_mib = rss_mib()
    await come_and_go(24)
    assert rss_mib() - before_mib < 20
    assert [path for path in kept(voice_server).rglob("*") if path.is_file()] == []
