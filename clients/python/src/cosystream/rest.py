"""The requests beside the stream: voices, voices made of recordings, a pass for a browser.

Knows: paths and fields. Calls block (in asyncio: ``asyncio.to_thread``, or the methods of
``Client``). Does not know: the stream.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cosystream import wire
from cosystream.address import DEFAULT_URL, Address
from cosystream.asking import Desk
from cosystream.events import Token, Voice

VOICE_TIMEOUT_S = 120.0
"""Making a voice takes seconds, and more where others are being made."""


def list_voices(
    url: str = DEFAULT_URL, *, api_key: str | None = None, timeout_s: float = 10.0
) -> list[Voice]:
    """The server's voices, and those made with this key. Raises ConnectionFailed or Refused."""
    return voices_at(_desk(url, api_key, timeout_s))


def create_voice(
    audio: bytes | str | Path,
    *,
    transcript: str,
    name: str,
    consent: str,
    language: str | None = None,
    url: str = DEFAULT_URL,
    api_key: str | None = None,
    timeout_s: float = VOICE_TIMEOUT_S,
) -> Voice:
    """A voice made of a recording: the bytes of a file, or the path of one.

    ``transcript`` is what is said in it, word for word, ``consent`` whose voice it is and how they
    agreed to this use of it. The voice's ``warnings`` say what would make it better.

    Raises OSError where the file cannot be read, ConnectionFailed or Refused (``code`` says what is
    wrong with the recording).
    """
    form = voice_form(audio, transcript, name, consent, language)
    return create_at(_desk(url, api_key, timeout_s), form)


def delete_voice(
    voice: str, *, url: str = DEFAULT_URL, api_key: str | None = None, timeout_s: float = 10.0
) -> None:
    """Remove a voice made with this key, by its id. Raises ConnectionFailed or Refused."""
    delete_at(_desk(url, api_key, timeout_s), voice)


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
    answer = _desk(url, api_key, timeout_s).ask("/v1/tokens", given)
    return Token(token=str(answer["token"]), expires_in_s=float(answer["expires_in_s"]))


# --- the same at a desk that is there already ------------------------------------------------


def voices_at(desk: Desk) -> list[Voice]:
    """As ``list_voices``."""
    return wire.voices_of(desk.ask("/v1/voices"))


def create_at(desk: Desk, form: tuple[bytes, str]) -> Voice:
    """As ``create_voice``."""
    body, content_type = form
    return wire.voice_of(desk.ask("/v1/voices", body, content_type=content_type))


def delete_at(desk: Desk, voice: str) -> None:
    """As ``delete_voice``."""
    desk.ask(f"/v1/voices/{quote(voice, safe='')}", method="DELETE")


def voice_form(
    audio: bytes | str | Path, transcript: str, name: str, consent: str, language: str | None
) -> tuple[bytes, str]:
    """The form as it is sent, and its content type. Raises OSError."""
    recording = audio if isinstance(audio, bytes) else Path(audio).read_bytes()
    fields = {"transcript": transcript, "name": name, "consent": consent}
    if language is not None:
        fields["language"] = language
    return _multipart(fields, recording)


def _multipart(fields: Mapping[str, str], recording: bytes) -> tuple[bytes, str]:
    boundary = secrets.token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="audio"; filename="audio"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    body = b"".join([*parts, head.encode(), recording, f"\r\n--{boundary}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={boundary}"


def _desk(url: str, api_key: str | None, timeout_s: float) -> Desk:
    return Desk(address=Address.parse(url), api_key=api_key, timeout_s=timeout_s)
