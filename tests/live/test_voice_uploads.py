"""What may be sent to make a voice of: names, recordings, forms; and what is said of the rest."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import urllib.parse
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from recordings import CONTAINERS, a_call, a_recording, encoded, speech, wav
from servers import LiveServer, StartServer
from talk import talking
from voicing import FORM, SHOP, asking, bearer, code_of, kept, made, send


class TestNames:
    """VOI-01: a name is a label, an id is looked up; neither is ever a path."""

    HOSTILE = (
        "../../etc/passwd",
        "..%2f..%2fetc/hosts",
        "%2fetc%2fpasswd",
        "a/b",
        "con.wav",
        "voice%00.wav",
        "x" * 300,
        "小明",
        "Ana María",
        ".",
        "..",
    )

    @pytest.mark.parametrize("name", HOSTILE)
    async def test_as_an_id_it_is_unknown_like_any_other(
        self, voice_server: LiveServer, shop: httpx.AsyncClient, name: str
    ) -> None:
        for method in ("GET", "DELETE"):
            status, body = await asyncio.to_thread(_as_it_stands, voice_server, method, name)
            assert (status, body["error"]["code"]) == (404, "unknown_voice")
        audio, body = await asyncio.to_thread(_as_it_stands, voice_server, "GET", name + "/audio")
        assert (audio, body["error"]["code"]) == (404, "unknown_voice")
        spoken = await shop.post("/v1/speak", json={"text": "Hello.", "voice": name[:256]})
        assert (spoken.status_code, code_of(spoken)) == (404, "unknown_voice")
        async with talking(voice_server.ws_url, {}, additional_headers=bearer(SHOP)) as talk:
            await talk.send("open", ctx="a", voice=name[:256])
            assert (await talk.until("error"))["code"] == "unknown_voice"

    @pytest.mark.parametrize(
        "name", ["../../etc/passwd", "/etc/passwd", "小明", ".", "a/b", "con.wav"]
    )
    async def test_as_a_label_it_is_kept_as_it_is(
        self, shop: httpx.AsyncClient, voice_server: LiveServer, name: str
    ) -> None:
        voice = await made(shop, name=name)
        assert (await shop.get(f"/v1/voices/{voice}")).json()["name"] == name
        stray = [
            path
            for path in kept(voice_server).parent.rglob("*")
            if path.is_file() and kept(voice_server) not in path.parents and path.suffix != ".log"
        ]
        assert stray == []

    @pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\0b", "a\nb", None])
    async def test_what_nobody_could_read_in_a_list_is_refused(
        self, shop: httpx.AsyncClient, name: str | None
    ) -> None:
        answer = await send(shop, name=name)
        assert (answer.status_code, code_of(answer)) == (400, "invalid_value")
        assert "name:" in answer.json()["error"]["message"]


class TestRecordings:
    @pytest.mark.parametrize("kind", CONTAINERS)
    async def test_the_bytes_say_what_it_is_whatever_its_name(
        self, shop: httpx.AsyncClient, kind: str
    ) -> None:  # VOI-05
        outcomes = {
            (await send(shop, encoded(kind), file=f"me.{ending}")).status_code
            for ending in CONTAINERS
        }
        if kind in {"m4a", "webm"}:
            assert outcomes == {415}
            message = (await send(shop, encoded(kind))).json()["error"]["message"]
            assert all(name in message for name in ("wav", "flac", "mp3", "ogg"))
        else:
            assert outcomes <= {200, 201}

    async def test_a_quiet_one_is_lifted(self, shop: httpx.AsyncClient) -> None:  # VOI-03
        quiet = speech() / np.abs(speech()).max() * 10 ** (-48 / 20)
        hiss = np.random.default_rng(1).normal(0, 10 ** (-70 / 20), len(quiet))
        answer = await send(shop, wav(quiet + hiss))
        assert answer.status_code == 201, answer.text
        silent = await send(shop, wav(np.zeros(48_000 * 8)))
        assert (silent.status_code, code_of(silent)) == (400, "silent_recording")

    async def test_a_telephones_rate_is_taken_with_a_warning(
        self, shop: httpx.AsyncClient
    ) -> None:  # VOI-08
        for audio in (a_recording(6.0, rate=8_000), a_call(6.0)):
            answer = await send(shop, audio)
            assert answer.status_code == 201, answer.text
            assert "8,000" in answer.json()["warnings"][0]

    @pytest.mark.parametrize(
        ("seconds", "code"),
        [
            (0.3, "recording_too_short"),
            (2.9, None),
            (3.0, None),
            (10.0, None),
            (29.9, None),
            (30.1, "recording_too_long"),
            (33.0, "recording_too_long"),
            (60.0, "recording_too_long"),
        ],
    )
    async def test_lengths(
        self, shop: httpx.AsyncClient, seconds: float, code: str | None
    ) -> None:  # VOI-09
        answer = await send(shop, a_recording(seconds, rate=16_000))
        if code is None:
            assert answer.status_code == 201, answer.text
        else:
            assert (answer.status_code, code_of(answer)) == (400, code)
            assert "30 s" in answer.json()["error"]["message"]

    async def test_ten_minutes_pass_the_size_and_are_not_read_to_the_end(
        self, shop: httpx.AsyncClient
    ) -> None:  # VOI-09
        sent = 0

        async def body() -> AsyncIterator[bytes]:
            nonlocal sent
            yield (
                b'--x\r\nContent-Disposition: form-data; name="audio"; filename="long.wav"\r\n\r\n'
            )
            for _ in range(300):
                sent += 100_000
                yield bytes(100_000)

        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = await shop.post("/v1/voices", content=body(), headers=headers)
        assert (answer.status_code, code_of(answer)) == (413, "upload_too_large")
        assert "limits.upload_bytes" in answer.json()["error"]["message"]

    @pytest.mark.parametrize("transcript", ["", "   ", None, "。。。"])
    async def test_a_voice_without_a_transcript_is_refused_when_it_is_made(
        self, shop: httpx.AsyncClient, transcript: str | None
    ) -> None:  # VOI-11
        answer = await send(shop, transcript=transcript)
        assert (answer.status_code, code_of(answer)) == (400, "invalid_value")
        assert "transcript:" in answer.json()["error"]["message"]

    @pytest.mark.parametrize(
        ("spoil", "code", "words"),
        [
            (
                lambda samples: samples * (4 / np.abs(samples).max()),
                "clipped_recording",
                "too loud",
            ),
            (lambda samples: 0.3 * np.sin(np.arange(len(samples)) / 20), "no_speech", "steady"),
            (lambda samples: samples * 0, "silent_recording", "microphone"),
        ],
    )
    async def test_each_fault_has_a_code_and_a_reason(
        self,
        shop: httpx.AsyncClient,
        spoil: Callable[[np.ndarray], np.ndarray],
        code: str,
        words: str,
    ) -> None:
        answer = await send(shop, wav(spoil(speech())))
        assert (answer.status_code, code_of(answer)) == (400, code)
        assert words in answer.json()["error"]["message"]

    @pytest.mark.parametrize("audio", [b"", b"\0", b"not audio at all" * 100])
    async def test_what_is_no_recording_is_told_as_such(
        self, shop: httpx.AsyncClient, audio: bytes
    ) -> None:
        answer = await send(shop, audio)
        assert answer.status_code in {400, 415}
        assert code_of(answer) in {"not_audio", "damaged_recording", "invalid_value"}


class TestForms:
    async def test_consent_is_asked_for(self, shop: httpx.AsyncClient) -> None:
        for consent in (None, " "):
            answer = await send(shop, consent=consent)
            assert "consent:" in answer.json()["error"]["message"]

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ({"json": FORM}, "bad_request"),
            ({"content": b"x"}, "bad_request"),
            ({"data": FORM}, "bad_request"),
            (
                {"content": b"x", "headers": {"Content-Type": "multipart/form-data"}},
                "bad_request",
            ),
            (
                {
                    "content": b"no boundary",
                    "headers": {"Content-Type": "multipart/form-data; boundary=b"},
                },
                "bad_request",
            ),
            ({"files": {"sound": b"RIFF"}, "data": FORM}, "invalid_value"),
            ({"files": {"audio": b"RIFF", "more": b"RIFF"}, "data": FORM}, "bad_request"),
            ({"files": {"audio": b"RIFF"}, "data": {**FORM, "voice": "x"}}, "bad_request"),
            ({"files": {"name": b"Ana"}, "data": {"audio": "x"}}, "invalid_value"),
            ({"files": {"audio": b"RIFF"}, "data": {**FORM, "name": "x" * 20_000}}, "bad_request"),
            ({"files": {"audio": b"RIFF"}, "data": {**FORM, "language": "?"}}, "invalid_value"),
        ],
    )
    async def test_a_form_that_is_none_of_ours(
        self, shop: httpx.AsyncClient, options: dict[str, Any], code: str
    ) -> None:
        answer = await shop.post("/v1/voices", **options)
        assert answer.status_code == 400
        assert code_of(answer) == code

    async def test_a_key_has_so_many_voices(
        self, start_server: StartServer, tmp_path: Path
    ) -> None:
        server = start_server(
            engine__runner="tone",
            engine__voices_dir=tmp_path / "kept",
            engine__voices_per_key=1,
        )
        async with asking(server) as client:
            voice = await made(client)
            full = await send(client, name="Two")
            assert (full.status_code, code_of(full)) == (409, "too_many_voices")
            await client.delete(f"/v1/voices/{voice}")
            await made(client, name="Two")

    async def test_who_leaves_in_the_middle_of_an_upload_leaves_nothing(
        self, shop: httpx.AsyncClient, voice_server: LiveServer
    ) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", shop.base_url.port)
        head = (
            "POST /v1/voices HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {SHOP}\r\nContent-Length: 1000000\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\n\r\n"
        )
        writer.write(head.encode() + b"--x\r\n")
        await writer.drain()
        writer.close()
        await made(shop)
        assert "request failed" not in voice_server.log


def _as_it_stands(server: LiveServer, method: str, name: str) -> tuple[int, Any]:
    """Ask with a path that no client library has tidied up."""
    with contextlib.closing(
        http.client.HTTPConnection(server.url.removeprefix("http://"))
    ) as connection:
        path = "/v1/voices/" + urllib.parse.quote(name, safe="%/.")
        connection.request(method, path, headers=bearer(SHOP))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
