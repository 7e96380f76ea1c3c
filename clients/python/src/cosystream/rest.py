"""The two requests beside the stream: which voices there are, and a pass for a browser.

Knows: HTTP through the standard library; calls block (in asyncio: ``asyncio.to_thread``). Does not
know: the stream.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from cosystream import wire
from cosystream.address import DEFAULT_URL, Address
from cosystream.errors import ConnectionFailed, CosystreamError, Refused, from_wire
from cosystream.events import Token, Voice

_MAX_BODY_BYTES = 4 * 1024 * 1024


def list_voices(
    url: str = DEFAULT_URL, *, api_key: str | None = None, timeout_s: float = 10.0
) -> list[Voice]:
    """The server's voices. Raises ConnectionFailed or Refused."""
    return wire.voices_of(_ask(url, "/v1/voices", None, api_key, timeout_s))


def get_token(
    url: str = DEFAULT_URL,
    api_key: str | None = None,
    *,
    ttl_s: int | None = None,
    origin: str | None = None,
    voices: Sequence[str] | None = None,
    max_characters: int | None = None,
    timeout_s: float = 10.0,
) -> Token:
    """A token with which a browser opens one session; call it where your key is safe.

    It may be used to begin for ``ttl_s`` (the server's default: 60), from ``origin`` alone if that
    is given, for these ``voices`` and so many characters. Raises ConnectionFailed or Refused.
    """
    wishes: dict[str, Any] = {
        "ttl_s": ttl_s,
        "origin": origin,
        "voices": None if voices is None else list(voices),
        "max_characters": max_characters,
    }
    given = {name: value for name, value in wishes.items() if value is not None}
    answer = _ask(url, "/v1/tokens", given, api_key, timeout_s)
    return Token(token=str(answer["token"]), expires_in_s=float(answer["expires_in_s"]))


def _ask(
    url: str, path: str, body: wire.Fields | None, api_key: str | None, timeout_s: float
) -> dict[str, Any]:
    address = Address.parse(url)
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    data = None if body is None else wire.encode(body).encode()
    request = Request(address.http_url(path), data=data, headers=headers)  # noqa: S310 - the scheme is http or https by construction
    try:
        with _opener(address).open(request, timeout=timeout_s) as response:
            return _object_of(response.read(_MAX_BODY_BYTES), address)
    except HTTPError as refused:
        with refused:
            raise _refusal(refused.code, refused.read(_MAX_BODY_BYTES), address) from None
    except (URLError, TimeoutError, OSError) as failed:
        reason = getattr(failed, "reason", failed)
        raise ConnectionFailed(f"no answer from {address.http_url()} ({reason})") from failed


def _opener(address: Address) -> OpenerDirector:
    return build_opener(ProxyHandler({})) if address.loopback else build_opener()


def _object_of(body: bytes, address: Address) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError as wrong:
        raise _stranger(address) from wrong
    if not isinstance(answer, dict):
        raise _stranger(address)
    return answer


def _refusal(status: int, body: bytes, address: Address) -> CosystreamError:
    try:
        return from_wire(Refused, json.loads(body)["error"])
    except (ValueError, KeyError, TypeError, AttributeError):  # not our server's body
        return Refused(f"{address.http_url()} answers HTTP {status}", status=status)


def _stranger(address: Address) -> CosystreamError:
    return ConnectionFailed(
        f"{address.http_url()} answers, but not as a cosystream server does", retryable=False
    )
