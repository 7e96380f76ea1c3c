"""A server that makes voices of recordings, and two who use it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from servers import LiveServer, start
from voicing import PHONE, SHOP, asking


@pytest.fixture(scope="session")
def voice_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server with two keys, shared by tests that leave no voice behind."""
    folder = tmp_path_factory.mktemp("voices")
    server = start(
        folder,
        engine__runner="tone",
        engine__voices_dir=folder / "kept",
        access__api_keys=f"shop:{SHOP},phone:{PHONE}",
        access__allowed_origins="https://app.example",
        limits__upload_bytes=2_000_000,
    )
    yield server
    server.stop()


@pytest.fixture
async def shop(voice_server: LiveServer) -> AsyncIterator[httpx.AsyncClient]:
    """Whoever has the shop's key; leaves no voice behind."""
    async with asking(voice_server, SHOP) as client:
        yield client
        for voice in (await client.get("/v1/voices")).json()["voices"]:
            if voice["cloned"]:
                await client.delete(f"/v1/voices/{voice['id']}")


@pytest.fixture
async def phone(voice_server: LiveServer) -> AsyncIterator[httpx.AsyncClient]:
    """Whoever has the other key."""
    async with asking(voice_server, PHONE) as client:
        yield client
