"""Voices and tokens over HTTP: the real server, and strangers in its place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from pyclient_command import command

from cosystream import Client, ConnectionFailed, Refused, get_token, list_voices


class Stranger(BaseHTTPRequestHandler):
    """Answers whatever ``answer`` says."""

    answer = (200, b"hello")

    def do_GET(self) -> None:
        status, body = self.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Stranger)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_voices_are_listed_with_their_default(tone_server):
    voices = list_voices(tone_server.url)
    assert sum(voice.default for voice in voices) == 1
    assert all(voice.id and voice.name for voice in voices)


async def test_the_command_lists_voices(tone_server):
    outcome = await command("voices", url=tone_server.url)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith(b"* ")
    as_json = await command("voices", "--json", url=tone_server.url)
    assert as_json.out.startswith(b'[{"id"')


async def test_a_token_opens_one_session(start_server):
    keys = '[{"name": "test", "key": "k-1234567890"}]'
    server = start_server(engine__runner="tone", access__api_keys=keys)
    with pytest.raises(Refused) as refused:
        get_token(server.url)
    assert refused.value.code == "unauthorized"
    token = get_token(server.url, "k-1234567890", ttl_s=30, max_characters=100)
    assert token.expires_in_s == 30
    assert token.token not in repr(token)
    async with Client(server.url, token=token.token) as client:
        context = await client.open()
        await context.send("Hello.")
        await context.end()
        assert (await context.wait()).samples
    with pytest.raises(Refused, match="unauthorized"):
        await Client(server.url, token=token.token).__aenter__()


async def test_the_command_makes_a_token(tone_server):
    outcome = await command("token", "--ttl", "5", url=tone_server.url)
    assert outcome.code == 0, outcome.err
    assert len(outcome.out.split()) == 1


def test_a_refusal_is_typed(tone_server):
    with pytest.raises(Refused) as refused:
        get_token(tone_server.url, ttl_s=999_999)
    assert refused.value.status == 400


def test_nobody_there_is_a_failed_connection():
    with pytest.raises(ConnectionFailed, match="no answer"):
        list_voices("http://127.0.0.1:1", timeout_s=1)


@pytest.mark.parametrize("body", [b"hello", b"[]", b'"x"'])
def test_a_stranger_is_recognised(stranger, body):
    Stranger.answer = (200, body)
    with pytest.raises(ConnectionFailed, match="not as a cosystream server"):
        list_voices(stranger)


@pytest.mark.parametrize("body", [b"<html>", b'{"detail": "no"}', b"[]"])
def test_an_error_page_of_a_stranger_is_told_by_its_status(stranger, body):
    Stranger.answer = (502, body)
    with pytest.raises(Refused, match="HTTP 502") as refused:
        list_voices(stranger)
    assert refused.value.status == 502
