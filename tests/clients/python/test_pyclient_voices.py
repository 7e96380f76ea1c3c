"""Voices made of recordings, by the library and the command, with the real server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
from pyclient_command import command
from recordings import a_recording
from servers import LiveServer, start

from cosystream import (
    Client,
    Refused,
    create_voice,
    delete_voice,
    get_token,
    list_voices,
    say,
)

KEY = "k-1234567890"
SAID = {"transcript": "Good morning, this is how I speak.", "name": "小明", "consent": "my own"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    keys = f'[{{"name": "test", "key": "{KEY}"}}]'
    folder = tmp_path_factory.mktemp("pyclient-voices")
    server = start(folder, engine__runner="tone", access__api_keys=keys)
    yield server
    server.stop()


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "me.wav"
    path.write_bytes(a_recording())
    return path


@pytest.fixture(autouse=True)
def _nothing_is_left(server):
    yield
    for voice in list_voices(server.url, api_key=KEY):
        if voice.cloned:
            delete_voice(voice.id, url=server.url, api_key=KEY)


def test_a_voice_is_made_listed_spoken_with_and_deleted(server, recording):
    voice = create_voice(recording, **SAID, language="en", url=server.url, api_key=KEY)
    assert (voice.cloned, voice.name, voice.language) == (True, "小明", "en")
    assert (voice.transcript, voice.consent) == (SAID["transcript"], "my own")
    assert voice.duration_ms
    assert voice.warnings == ()

    (own,) = [each for each in list_voices(server.url, api_key=KEY) if each.cloned]
    assert own == voice
    assert say("Hello.", url=server.url, api_key=KEY, voice=voice.id).pcm

    delete_voice(voice.id, url=server.url, api_key=KEY)
    with pytest.raises(Refused) as gone:
        delete_voice(voice.id, url=server.url, api_key=KEY)
    assert gone.value.code == "unknown_voice"


def test_bytes_do_as_well_as_a_path(server):
    short = a_recording(2.0)
    voice = create_voice(short, **SAID, url=server.url, api_key=KEY)
    assert "3 to 10" in voice.warnings[0]


@pytest.mark.parametrize(
    ("audio", "code"), [(b"RIFF nothing", "not_audio"), (a_recording(0.5), "recording_too_short")]
)
def test_a_refusal_says_what_is_wrong_with_the_recording(server, audio, code):
    with pytest.raises(Refused) as refused:
        create_voice(audio, **SAID, url=server.url, api_key=KEY)
    assert refused.value.code == code


def test_a_file_that_is_not_there_is_an_error_of_the_systems(server, tmp_path):
    with pytest.raises(FileNotFoundError):
        create_voice(tmp_path / "none.wav", **SAID, url=server.url, api_key=KEY)


def test_an_id_is_no_path(server):
    with pytest.raises(Refused) as refused:
        delete_voice("../tokens", url=server.url, api_key=KEY)
    assert refused.value.code == "unknown_voice"


async def test_a_client_does_it_beside_its_session(server, recording):
    async with Client(server.url, api_key=KEY) as client:
        voice = await client.create_voice(recording, SAID["transcript"], "Me", "my own")
        assert voice.id in [each.id for each in await client.list_voices()]
        context = await client.open(voice=voice.id)
        await context.send("Hello.", end=True)
        assert (await context.wait()).samples
        await client.delete_voice(voice.id)
        assert voice.id not in [each.id for each in await client.list_voices()]


async def test_a_token_makes_no_voices(server, recording):
    token = get_token(server.url, KEY).token
    client = Client(server.url, token=token)
    with pytest.raises(Refused, match="not_allowed"):
        await client.create_voice(recording, SAID["transcript"], "Me", "my own")


class TestCommand:
    async def run(self, server, *arguments, **options):
        return await command("voice", *arguments, "--api-key", KEY, url=server.url, **options)

    def words(self, name="Me"):
        return ("--name", name, "--transcript", SAID["transcript"], "--consent", "my own")

    async def test_adds_lists_and_removes(self, server, recording):
        added = await self.run(server, "add", str(recording), *self.words())
        assert (added.code, added.err) == (0, "")
        voice = added.out.decode().strip()

        listed = await self.run(server, "list")
        assert listed.out.decode().split()[0] == voice
        assert listed.out.decode().rstrip().endswith("Me")
        spoken = await command(
            "say", "Hello.", "--voice", voice, "--out", "-", "--api-key", KEY, url=server.url
        )
        assert spoken.out.startswith(b"RIFF")

        removed = await self.run(server, "remove", voice)
        assert (removed.code, removed.out) == (0, b"")
        again = await self.run(server, "remove", voice)
        assert again.code == 1
        assert "unknown_voice" in again.err
        assert "no voices yet" in (await self.run(server, "list")).err

    async def test_takes_a_pipe_and_tells_all_as_json(self, server):
        added = await self.run(server, "add", "-", *self.words(), "--json", text=a_recording(2.0))
        made = json.loads(added.out)
        assert made["cloned"] is True
        assert "warning" in added.err
        listed = json.loads((await self.run(server, "list", "--json")).out)
        assert [voice["id"] for voice in listed] == [made["id"]]

    async def test_says_what_is_wrong_and_exits_with_1_or_2(self, server, recording, tmp_path):
        missing = await self.run(server, "add", str(tmp_path / "none.wav"), *self.words())
        assert (missing.code, "none.wav" in missing.err) == (2, True)
        refused = await self.run(server, "add", str(recording), *self.words(name=" "))
        assert (refused.code, "name:" in refused.err) == (1, True)
        incomplete = await self.run(server, "add", str(recording))
        assert (incomplete.code, "--transcript" in incomplete.err) == (2, True)

    async def test_reads_standard_input_only_when_told(self, server):
        outcome = await self.run(server, "list", stdin=subprocess.DEVNULL)
        assert outcome.code == 0
