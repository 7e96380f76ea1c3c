"""Speech over plain HTTP: what comes, what is refused, many at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
import wave
from io import BytesIO
from typing import Any

import httpx
import numpy as np
import psutil
import pytest
from http_rig import FORMATS, LONG, asking, drained, error_of, get, streaming, value_of
from servers import LiveServer
from talk import decode_file, talking

TEXT = "The first sentence is here. And a second one follows it."
MP3_SILENCE_MS = 90
"""What an mp3 decoder hears more than went in."""


class TestSpeech:
    async def test_every_format_is_as_long_as_the_websockets_audio(
        self, live_server: LiveServer
    ) -> None:
        async with talking(live_server.ws_url, {"pacing": {"lead_ms": None}}) as talk:
            expected_ms = (await talk.speak(TEXT))["audio_ms"]
        for name, media_type in FORMATS.items():
            answer = await get(live_server, text=TEXT, format=name)
            assert answer.headers["content-type"] == media_type
            samples, rate = decode_file(answer.content)
            slack_ms = MP3_SILENCE_MS if name == "mp3" else 80
            assert abs(len(samples) * 1000 / rate - expected_ms) <= slack_ms, name
            assert np.abs(samples).max() > 0.1

    async def test_a_post_says_the_same_as_a_get(self, live_server: LiveServer) -> None:
        asked = {"text": TEXT, "format": "wav", "seed": 7, "speed": 1.5}
        async with asking(live_server) as client:
            posted = await client.post("/v1/speak", json=asked)
            gotten = await client.get("/v1/speak", params=asked)
        assert posted.status_code == gotten.status_code == 200
        assert posted.content == gotten.content

    async def test_a_lexicon_and_dropped_thoughts_change_what_is_spoken(
        self, live_server: LiveServer
    ) -> None:
        plain = {"text": "A GIF.", "format": "wav"}
        thoughts = {**plain, "text": "<think>What is it?</think>A GIF.", "reasoning": "drop"}
        words = [{"text": "GIF", "say": "graphics interchange format"}]
        async with asking(live_server) as client:
            short = await client.get("/v1/speak", params=plain)
            same = await client.get("/v1/speak", params=thoughts)
            longer = await client.post("/v1/speak", json={**plain, "lexicon": words})
            fix = {"replace": [{"GIF": "graphics interchange format"}]}
            as_long = await client.post("/v1/speak", json={**plain, "lexicon": fix})
            wrong = await client.get("/v1/speak", params={**plain, "lexicon": "GIF"})
        assert same.content == short.content
        assert len(longer.content) > 1.3 * len(short.content)
        assert as_long.content == longer.content
        assert wrong.status_code == 400
        assert wrong.json()["error"]["code"] == "invalid_value"
        assert "lexicon" in wrong.json()["error"]["message"]

    async def test_the_beginning_comes_before_the_end_is_made(
        self, tone_server: LiveServer
    ) -> None:
        text = (LONG + "[[sleep:0.02]]") * 5
        began = time.perf_counter()
        async with streaming(tone_server, text=text) as pieces:
            await anext(pieces)
            first_s = time.perf_counter() - began
            await drained(pieces)
        assert time.perf_counter() - began > 2 * first_s

    @pytest.mark.parametrize(
        ("accept", "media_type"),
        [
            ("*/*", "audio/mpeg"),
            ("audio/*;q=0.9, text/html", "audio/mpeg"),
            ("audio/wav", "audio/wav"),
            ("text/html, Audio/OGG; codecs=opus", "audio/ogg; codecs=opus"),
            ("audio/wav;q=0.2, audio/ogg;q=0.8", "audio/ogg; codecs=opus"),
            ("audio/ogg;q=0, audio/wav;q=0.1", "audio/wav"),
            ("audio/wav;q=loud", "audio/mpeg"),
        ],
    )
    async def test_the_format_may_be_left_to_the_accept_header(
        self, tone_server: LiveServer, accept: str, media_type: str
    ) -> None:
        async with asking(tone_server, Accept=accept) as client:
            answer = await client.get("/v1/speak", params={"text": "Hi."})
        assert answer.headers["content-type"] == media_type

    async def test_a_format_that_is_named_wins_over_the_header(
        self, tone_server: LiveServer
    ) -> None:
        async with asking(tone_server, Accept="audio/wav") as client:
            answer = await client.get("/v1/speak", params={"text": "Hi.", "format": "mp3"})
        assert answer.headers["content-type"] == "audio/mpeg"

    async def test_a_streamed_wav_does_not_claim_a_length(self, tone_server: LiveServer) -> None:
        answer = await get(tone_server, text="Hi there.", format="wav")
        body = answer.content
        assert "content-length" not in answer.headers
        assert answer.headers["transfer-encoding"] == "chunked"
        assert body[:4] == b"RIFF"
        assert body[4:8] == body[40:44] == b"\xff\xff\xff\xff"
        assert body.count(b"RIFF") == 1
        assert len(body) % 2 == 0
        with wave.open(BytesIO(body)) as file:
            assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)

    async def test_nothing_of_it_is_kept_by_anybody_on_the_way(
        self, tone_server: LiveServer
    ) -> None:
        answer = await get(tone_server, text="Hi.")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-accel-buffering"] == "no"

    async def test_asking_for_the_headers_alone_speaks_nothing(
        self, tone_server: LiveServer
    ) -> None:
        async with asking(tone_server) as client:
            before = (await client.get("/metrics")).text
            answer = await client.head("/v1/speak", params={"text": LONG * 50, "format": "opus"})
            refused = await client.head("/v1/speak", params={"text": "Hi.", "voice": "nobody"})
            after = (await client.get("/metrics")).text
        assert answer.status_code == 200
        assert answer.headers["content-type"] == FORMATS["opus"]
        assert refused.status_code == 404
        assert value_of(before, "cosystream_characters_total") == value_of(
            after, "cosystream_characters_total"
        )


class TestRefusals:
    @pytest.mark.parametrize(
        ("query", "code", "names"),
        [
            ({}, "invalid_value", "text: required"),
            ({"text": ""}, "invalid_value", "text: "),
            ({"text": " \n "}, "invalid_value", "text: "),
            ({"text": "🎉🎉"}, "invalid_value", "text: "),
            ({"text": "?!..."}, "invalid_value", "text: "),
            ({"text": "Hi.", "voice": "nobody"}, "unknown_voice", "'nobody'"),
            ({"text": "Hi.", "voice": ""}, "unknown_voice", "''"),
            ({"text": "Hi.", "voice": "v" * 300}, "invalid_value", "voice: "),
            ({"text": "Hi.", "speed": 99}, "invalid_value", "speed: expected 0.5 to 2.0"),
            ({"text": "Hi.", "speed": "fast"}, "invalid_value", "speed: expected `float`"),
            ({"text": "Hi.", "format": "xyz"}, "invalid_value", "format: expected one of mp3"),
            ({"text": "Hi.", "seed": -1}, "invalid_value", "seed: "),
            ({"text": "Hi.", "colour": "red"}, "invalid_value", "colour: unknown field"),
            ({"text": "Hi.", "language": "ja"}, "unsupported_language", "ja"),
            ({"text": "你好。", "voice": "heart"}, "unsupported_language", "docs/voices.md"),
        ],
    )  # fmt: skip
    async def test_come_before_any_audio_and_name_the_field(
        self, live_server: LiveServer, query: dict[str, Any], code: str, names: str
    ) -> None:
        statuses = {"invalid_value": 400, "unknown_voice": 404, "unsupported_language": 422}
        by_query = await get(live_server, **query)
        async with asking(live_server) as client:
            by_body = await client.post("/v1/speak", json=query)
        for answer in (by_query, by_body):
            error = error_of(answer)
            assert error["code"] == code
            assert answer.status_code == statuses[code]
            assert names.replace('"', "") in error["message"].replace('"', "")

    @pytest.mark.parametrize("body", [b"", b"not json", b"\xff\xfe", b"[" * 5000])
    async def test_a_body_that_is_no_json(self, tone_server: LiveServer, body: bytes) -> None:
        async with asking(tone_server) as client:
            answer = await client.post("/v1/speak", content=body)
        assert error_of(answer)["code"] == "bad_json"

    @pytest.mark.parametrize("body", [b"[]", b'"text"', b"3", b"null", b'{"text": 5}'])
    async def test_a_body_of_another_shape(self, tone_server: LiveServer, body: bytes) -> None:
        async with asking(tone_server) as client:
            answer = await client.post("/v1/speak", content=body)
        assert error_of(answer)["code"] == "invalid_value"

    async def test_text_over_the_limit(self, tone_server: LiveServer) -> None:
        async with asking(tone_server) as client:
            answer = await client.post("/v1/speak", json={"text": "a" * 100_001})
        error = error_of(answer)
        assert (error["code"], error["status"]) == ("text_too_long", 413)
        assert "100000" in error["message"]

    @pytest.mark.parametrize("path", ["/v1/speak", "/v1/tokens"])
    async def test_a_body_without_end_is_not_read_to_its_end(
        self, tone_server: LiveServer, path: str
    ) -> None:
        process = psutil.Process(tone_server.process.pid)
        before_mib = process.memory_info().rss / 2**20
        port = int(tone_server.url.rsplit(":", 1)[1])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {10**10}\r\n\r\n"
        writer.write(head.encode())
        for _ in range(64):
            writer.write(b"a" * 2**20)
            await writer.drain()
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n"), 5)
        assert b"413" in answer
        assert process.memory_info().rss / 2**20 - before_mib < 16
        writer.transport.abort()

    async def test_a_step_that_raises_before_any_audio_is_a_status(
        self, tone_server: LiveServer
    ) -> None:
        answer = await get(tone_server, text="This [[raise]] fails.")
        error = error_of(answer)
        assert (error["code"], error["retryable"]) == ("synthesis_failed", True)

    async def test_while_the_engine_loads_it_says_when_to_come_back(self, start_server) -> None:
        server = start_server(wait=False)
        async with asking(server) as client:
            answer = None
            while answer is None:
                with contextlib.suppress(httpx.TransportError):
                    answer = await client.get("/v1/speak", params={"text": "Too early."})
        error = error_of(answer)
        assert (error["code"], error["status"]) == ("engine_loading", 503)
        assert int(answer.headers["retry-after"]) >= 1

    async def test_every_slot_taken_says_when_to_come_back(self, start_server) -> None:
        server = start_server(engine__runner="tone", engine__slots=1)
        async with talking(server.ws_url, {}) as talk:
            await talk.send("open", ctx="a")
            await talk.until("opened")
            answer = await get(server, text="One more.")
        error = error_of(answer)
        assert (error["code"], error["status"]) == ("overloaded", 503)
        assert int(answer.headers["retry-after"]) >= 1

    async def test_a_method_that_is_none_of_ours(self, tone_server: LiveServer) -> None:
        async with asking(tone_server) as client:
            for method, path in (("DELETE", "/v1/speak"), ("GET", "/v1/tokens")):
                assert (await client.request(method, path)).status_code in {404, 405}


class TestAtOnce:
    async def test_twelve_at_the_same_instant_all_get_their_own(
        self, live_server: LiveServer
    ) -> None:
        # CON-02, CON-03
        texts = [f"Number {n} says this. " * (1 + n % 4) for n in range(12)]
        alone = {text: (await get(live_server, text=text, format="wav")).content for text in texts}
        answers = await asyncio.gather(
            *(get(live_server, text=text, format="wav") for text in texts)
        )
        assert {answer.status_code for answer in answers} == {200}
        assert [answer.content for answer in answers] == [alone[text] for text in texts]
        assert len({answer.content for answer in answers}) == 12

    async def test_two_voices_at_the_same_instant_do_not_mix(self, tone_server: LiveServer) -> None:
        async def pitch_hz(voice: str, seed: int) -> float:
            query = {"text": "A text for all.", "voice": voice, "seed": seed, "format": "wav"}
            samples, rate = decode_file((await get(tone_server, **query)).content)
            return float(np.abs(np.fft.rfft(samples)).argmax() * rate / len(samples))

        asked = [(voice, seed) for voice in ("tone-a", "tone-b") for seed in range(6)]
        pitches = await asyncio.gather(*(pitch_hz(*each) for each in asked))
        for (voice, seed), pitch in zip(asked, pitches, strict=True):
            expected = {"tone-a": 200, "tone-b": 3_000}[voice] + 50 * seed
            assert abs(pitch - expected) < 5

    @pytest.mark.parametrize("name", FORMATS)
    async def test_health_and_pings_answer_while_a_minute_is_made(
        self, live_server: LiveServer, name: str
    ) -> None:
        # CON-08
        text = LONG * 16
        waits = {"health": [0.0], "ping": [0.0]}
        async with asking(live_server) as client, talking(live_server.ws_url, {}) as talk:
            speech = asyncio.create_task(
                client.get("/v1/speak", params={"text": text, "format": name})
            )
            while not speech.done():
                began = time.perf_counter()
                assert (await client.get("/healthz")).status_code == 200
                waits["health"].append(time.perf_counter() - began)
                began = time.perf_counter()
                await talk.send("ping")
                await talk.until("pong")
                waits["ping"].append(time.perf_counter() - began)
                await asyncio.sleep(0.03)
            samples, rate = decode_file(speech.result().content)
        assert len(samples) / rate > 45
        for waits_s in map(sorted, waits.values()):
            assert waits_s[len(waits_s) * 9 // 10] < 0.5  # the slowest: a machine that stalls


async def test_a_drain_waits_for_what_is_being_sent_and_takes_nothing_new(start_server) -> None:
    server = start_server(engine__runner="tone", drain_s=10)
    text = (LONG + "[[sleep:0.02]]") * 3
    whole = len((await get(server, text=text, format="wav")).content)
    async with streaming(server, text=text, format="wav") as pieces:
        received = len(await anext(pieces))
        server.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.3)
        assert (await get(server, "/readyz")).json() == {"ready": False, "reason": "draining"}
        refused = await get(server, text="Hi.")
        async for piece in pieces:
            received += len(piece)
    assert error_of(refused)["code"] == "going_away"
    assert received == whole
    assert await asyncio.to_thread(server.process.wait, 10) in {0, -signal.SIGTERM}


class TestRates:
    async def test_too_many_requests_are_told_when_to_come_back(self, start_server) -> None:
        server = start_server(engine__runner="tone", access__requests_per_minute=3)
        async with asking(server) as client:
            answers = [await client.get("/v1/speak", params={"text": "Hi."}) for _ in range(4)]
            free = await client.get("/v1/voices")
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        error = error_of(answers[3])
        assert error["code"] == "rate_limited"
        assert 0 < error["retry_after_ms"] <= 20_000
        assert 1 <= int(answers[3].headers["retry-after"]) <= 20
        assert free.status_code == 200
