"""Speech and other routes asked for over plain HTTP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
from servers import LiveServer

LONG = "A sentence of some sixty characters, to be spoken at length. "
FORMATS = {"mp3": "audio/mpeg", "opus": "audio/ogg; codecs=opus", "wav": "audio/wav"}


@contextlib.asynccontextmanager
async def asking(server: LiveServer, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=20) as client:
        yield client


@contextlib.asynccontextmanager
async def streaming(server: LiveServer, **asked: Any) -> AsyncIterator[AsyncIterator[bytes]]:
    """The pieces of a transfer as they come; leaving is hanging up."""
    async with asking(server) as client, client.stream("POST", "/v1/speak", json=asked) as answer:
        yield answer.aiter_raw()


async def drained(pieces: AsyncIterator[bytes]) -> None:
    async with asyncio.timeout(10):
        async for _ in pieces:
            pass


async def get(server: LiveServer, path: str = "/v1/speak", **query: Any) -> httpx.Response:
    async with asking(server) as client:
        return await client.get(path, params=query)


def error_of(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "status", "retryable", "retry_after_ms"}
    assert error["status"] == answer.status_code
    return error


def value_of(metrics: str, name: str) -> float:
    line = next(line for line in metrics.splitlines() if line.startswith(f"{name} "))
    return float(line.rsplit(" ", 1)[1])
