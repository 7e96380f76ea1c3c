"""Making voices over HTTP, for tests: the form, the answers, what is heard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import numpy as np
from recordings import a_recording
from servers import LiveServer
from talk import decode_file

SHOP, PHONE = "shop-key-0123456789", "phone-key-0123456789"
FORM = {
    "name": "Ana María",
    "transcript": "Good morning, this is how I speak.",
    "consent": "my own voice",
    "language": "en",
}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def asking(server: LiveServer, key: str | None = None) -> httpx.AsyncClient:
    headers = bearer(key) if key else {}
    return httpx.AsyncClient(base_url=server.url, headers=headers, timeout=30)


async def send(
    client: httpx.AsyncClient, audio: bytes | None = None, file: str = "me.wav", **fields: Any
) -> httpx.Response:
    form = {key: value for key, value in {**FORM, **fields}.items() if value is not None}
    files = {"audio": (file, a_recording() if audio is None else audio)}
    return await client.post("/v1/voices", data=form, files=files)


async def made(client: httpx.AsyncClient, audio: bytes | None = None, **fields: Any) -> str:
    answer = await send(client, audio, **fields)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def listed(client: httpx.AsyncClient) -> list[str]:
    return [voice["id"] for voice in (await client.get("/v1/voices")).json()["voices"]]


def code_of(answer: httpx.Response) -> str:
    return str(answer.json()["error"]["code"])


def kept(server: LiveServer) -> Path:
    """The folder of stored voices of the shared server."""
    return server.log_path.parent / "kept"


def pitch_hz(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples, 4 * rate))
    return float(np.argmax(spectrum)) / 4


async def heard_hz(client: httpx.AsyncClient, voice: str) -> float:
    query = {"text": "Good morning to you.", "voice": voice, "format": "wav"}
    answer = await client.get("/v1/speak", params=query)
    assert answer.status_code == 200, answer.text
    return pitch_hz(*decode_file(answer.content))
