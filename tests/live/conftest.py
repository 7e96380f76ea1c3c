"""Servers, each started once: one that makes voices of recordings and two who use it; CosyVoice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest
from servers import LiveServer, start
from voicing import PHONE, SHOP, asking

from streaming.cosyvoice.sizes import Generation


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


ServerOf = Callable[[Generation], LiveServer]
"""``server_of(generation)``."""


@pytest.fixture(scope="session")
def checkpoint_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Generation], Path]:
    """``checkpoint_of(generation)``: a folder, written when it is first asked for."""
    from streaming.cosyvoice.tiny import write  # noqa: PLC0415 - needs torch

    @cache
    def written(generation: Generation) -> Path:
        folder = tmp_path_factory.mktemp(generation)
        write(folder, generation)
        return folder

    return written


@pytest.fixture(scope="session")
def server_of(
    checkpoint_of: Callable[[Generation], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerOf]:
    started: dict[str, LiveServer] = {}

    def of(generation: Generation) -> LiveServer:
        if generation not in started:
            folder = tmp_path_factory.mktemp(f"server-{generation}")
            started[generation] = start(
                folder,
                engine__model=checkpoint_of(generation),
                engine__device="cpu",
                engine__slots=48,  # more than any test has contexts
                engine__cosyvoice__positions=1024,
                engine__voices_dir=folder / "voices",
                engine__cosyvoice__flow_mib=256,
            )
        return started[generation]

    yield of
    for live in started.values():
        live.stop()


@pytest.fixture
def server(server_of: ServerOf) -> LiveServer:
    """Of version 3."""
    return server_of("cosyvoice3")


@pytest.fixture(params=["cosyvoice3", "cosyvoice2"])
def either(request: pytest.FixtureRequest, server_of: ServerOf) -> LiveServer:
    """Of each version, for what does not take long."""
    return server_of(request.param)
