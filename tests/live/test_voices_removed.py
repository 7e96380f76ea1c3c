"""A voice that is deleted between a context's `open` and its first audio, over real sockets."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from servers import LiveServer, StartServer
from talk import eventually, talking
from voicing import SHOP, asking, bearer, kept, listed, made

from streaming.voices.draft import VoiceDraft
from streaming.voices.files import VoiceFiles
from streaming.voices.store import VoiceLimits, VoiceStore

PCM = {"audio": {"codec": "pcm_s16le"}, "pacing": {"lead_ms": None}}


class SlowFile:
    """A file in whose midst whoever reads it waits; it can be removed meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._body = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        self._end: int | None = None

    @property
    def is_read(self) -> bool:
        """Whether somebody has opened it."""
        if self._end is None:
            try:
                self._end = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody has
                return False
        return True

    def go_on(self) -> None:
        """Let them have all of it."""
        assert self._end is not None
        os.write(self._end, self._body)
        self.close()

    def close(self) -> None:
        if self._end is not None:
            os.close(self._end)
        self._end = None


@contextmanager
def slow(path: Path) -> Iterator[SlowFile]:
    file = SlowFile(path)
    try:
        yield file
    finally:
        file.close()


def stored(folder: Path) -> str:
    """A voice of everybody's, as a server before this one left it."""
    store = VoiceStore(VoiceFiles(folder), VoiceLimits(1, 1 << 20))
    draft = VoiceDraft("Ana", "Good morning.", "my own voice")
    record, _ = store.add("", draft, b"RIFF", 3000, "", b"")
    return record.id


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe with a file's name")
async def test_who_opened_with_it_speaks_to_the_end_where_the_engine_has_begun_to_read_it(
    shop: httpx.AsyncClient, voice_server: LiveServer
) -> None:
    voice = await made(shop)
    with slow(kept(voice_server) / "records" / f"{voice}.json") as record:
        async with talking(voice_server.ws_url, PCM, additional_headers=bearer(SHOP)) as talk:
            await talk.send("open", ctx="a", voice=voice)
            await talk.until("opened")
            await eventually(lambda: record.is_read)

            assert (await shop.delete(f"/v1/voices/{voice}")).status_code == 204
            assert voice not in await listed(shop)
            await talk.send("open", ctx="b", voice=voice)
            assert (await talk.until("error", ctx="b"))["code"] == "unknown_voice"
            record.go_on()

            await talk.send("text", ctx="a", delta="Good morning to all of you.")
            await talk.send("end", ctx="a")
            done = await talk.until("done", ctx="a")
            assert done["audio_ms"] > 1_000
            assert talk.events("error", ctx="a") == []


async def test_who_still_waits_for_a_place_then_is_told_that_there_is_no_such_voice(
    start_server: StartServer, tmp_path: Path
) -> None:
    voice = stored(tmp_path / "kept")
    server = start_server(
        engine__runner="tone",
        engine__voices_dir=tmp_path / "kept",
        engine__capacity=1,
        engine__queue=1,
        engine__queue_ms=60_000,
    )
    async with (
        asking(server) as client,
        talking(server.ws_url, {}) as speaks,
        talking(server.ws_url, PCM) as waits,
    ):
        await speaks.send("open", ctx="first")
        await speaks.send("text", ctx="first", delta="Good morning. " * 50)
        await speaks.until_audio()
        await waits.send("open", ctx="second", voice=voice)
        await waits.send("text", ctx="second", delta="Good morning to all of you.")
        await waits.send("end", ctx="second")
        await waits.until("opened")

        assert (await client.delete(f"/v1/voices/{voice}")).status_code == 204
        await speaks.send("cancel", ctx="first")

        error = await waits.until("error", ctx="second")
        assert (error["code"], error["retryable"]) == ("unknown_voice", False)
        assert waits.audio() == []
