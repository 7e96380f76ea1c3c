"""What else can be asked over HTTP, and what other sites' pages may ask."""

from __future__ import annotations

from typing import Any

import pytest
from http_rig import asking, error_of, get, value_of
from prometheus_client.parser import text_string_to_metric_families
from servers import LiveServer


class TestTheOtherRoutes:
    async def test_health_readiness_and_voices(self, live_server: LiveServer) -> None:
        assert (await get(live_server, "/healthz")).json() == {"alive": True}
        assert (await get(live_server, "/readyz")).json() == {"ready": True}
        voices = (await get(live_server, "/v1/voices")).json()
        assert voices["default"] in [voice["id"] for voice in voices["voices"]]
        assert voices["options"] == ["speed", "seed"]
        for voice in voices["voices"]:
            assert set(voice) == {"id", "name", "languages", "description", "preview", "cloned"}

    async def test_every_listed_voice_speaks(self, live_server: LiveServer) -> None:
        voices = (await get(live_server, "/v1/voices")).json()["voices"]
        for voice in voices:
            answer = await get(live_server, text="Hello.", voice=voice["id"], format="wav")
            assert len(answer.content) > 10_000, voice["id"]

    @pytest.mark.parametrize(
        "options", [{"files": {"audio": b"RIFF"}}, {"json": {"name": "me"}}, {"content": b""}]
    )
    async def test_cloning_is_refused_by_an_engine_that_cannot(
        self, live_server: LiveServer, options: dict[str, Any]
    ) -> None:
        async with asking(live_server) as client:
            answer = await client.post("/v1/voices", **options)
        assert error_of(answer)["code"] == "unsupported_by_engine"
        assert answer.status_code == 422

    async def test_metrics_are_what_prometheus_reads(self, live_server: LiveServer) -> None:
        await get(live_server, text="Hi.")
        answer = await get(live_server, "/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        families = {family.name for family in text_string_to_metric_families(answer.text)}
        assert {
            "cosystream_first_packet_ms", "cosystream_ttfa_ms", "cosystream_rtf",
            "cosystream_underrun_ms", "cosystream_sessions", "cosystream_contexts",
            "cosystream_free_slots", "cosystream_encoder_queue", "cosystream_errors",
        } <= families  # fmt: skip

    async def test_errors_are_counted_by_code(self, tone_server: LiveServer) -> None:
        name = 'cosystream_errors_total{code="unknown_voice"}'
        before = value_of(tone_server.get("/metrics").decode(), name)
        await get(tone_server, text="Hi.", voice="nobody")
        assert value_of(tone_server.get("/metrics").decode(), name) == before + 1

    async def test_a_path_that_is_none_is_404(self, live_server: LiveServer) -> None:
        assert (await get(live_server, "/v2/speak")).status_code == 404


class TestPagesOfOthers:
    async def test_an_allowed_page_may_read_the_answer(self, tone_server: LiveServer) -> None:
        async with asking(tone_server, Origin="http://localhost:3000") as client:
            for path in ("/v1/voices", "/v1/speak?text=Hi.", "/v1/speak?text="):
                answer = await client.get(path)
                assert answer.headers["access-control-allow-origin"] == "http://localhost:3000", (
                    path
                )
                assert "Origin" in answer.headers["vary"]

    @pytest.mark.parametrize(
        "origin", ["https://evil.example", "null", "http://localhost.evil.example"]
    )
    async def test_a_foreign_one_is_refused_and_told_what_to_set(
        self, tone_server: LiveServer, origin: str
    ) -> None:
        async with asking(tone_server, Origin=origin) as client:
            for answer in (
                await client.get("/v1/speak", params={"text": "Hi."}),
                await client.post("/v1/tokens"),
                await client.get("/v1/voices"),
                await client.options("/v1/speak"),
            ):
                error = error_of(answer)
                assert (error["code"], error["status"]) == ("forbidden_origin", 403)
                assert "access.allowed_origins" in error["message"]
                assert origin in error["message"]
                assert "access-control-allow-origin" not in answer.headers

    async def test_and_may_when_it_is_listed(self, start_server) -> None:
        server = start_server(
            engine__runner="tone", access__allowed_origins="https://app.example,null"
        )
        for origin in ("https://app.example", "null"):
            async with asking(server, Origin=origin) as client:
                answer = await client.get("/v1/speak", params={"text": "Hi."})
            assert answer.status_code == 200
            assert answer.headers["access-control-allow-origin"] == origin

    async def test_a_preflight_names_what_may_be_sent(self, tone_server: LiveServer) -> None:
        headers = {
            "Origin": "http://localhost:3000",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type",
        }
        async with asking(tone_server, **headers) as client:
            for path in ("/v1/speak", "/v1/tokens", "/v1/voices"):
                answer = await client.options(path)
                assert answer.status_code == 204
                assert "POST" in answer.headers["access-control-allow-methods"]
                allowed = answer.headers["access-control-allow-headers"].lower()
                assert "authorization" in allowed
                assert "content-type" in allowed

    async def test_a_foreign_pages_audio_element_is_no_way_in(
        self, tone_server: LiveServer
    ) -> None:
        headers = {"Sec-Fetch-Site": "cross-site", "Referer": "https://evil.example/page"}
        async with asking(tone_server, **headers) as client:
            answer = await client.get("/v1/speak", params={"text": "Hi."})
        assert error_of(answer)["code"] == "forbidden_origin"

    async def test_plain_http_at_the_sockets_address_is_told_what_is_there(
        self, tone_server: LiveServer
    ) -> None:
        async with asking(tone_server) as client:
            answer = await client.get("/v1/stream")
        assert error_of(answer)["code"] == "bad_request"
        assert "is a WebSocket" in error_of(answer)["message"]
        assert "Upgrade" in error_of(answer)["message"]
