"""The door to a server: opens contexts.

Knows: what can be asked for and how it is named. Does not know: how the connection is kept
(``connection``).
"""

from __future__ import annotations

import asyncio
import itertools
import ssl
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cosystream import rest
from cosystream.address import DEFAULT_URL, Address
from cosystream.asking import Desk
from cosystream.backoff import Backoff
from cosystream.connection import Connection, Patience
from cosystream.context import Context
from cosystream.errors import ConnectionFailed
from cosystream.events import Cancelled, Codec, Done, Ready, Voice
from cosystream.link import Access
from cosystream.options import Lexicon, Reasoning, TextMode, When, lexicon_as_sent
from cosystream.outbox import Message
from cosystream.stats import Meter

BUFFER_BYTES = 8 * 1024 * 1024


class Client:
    """``async with Client(url) as client``: one session, any number of contexts.

    ``url`` is http, https, ws or wss, with a path prefix or without. ``lead_ms`` is how far audio
    may run ahead of the listener, None for as fast as it is made. A context may have
    ``buffer_bytes`` waiting to be read; where they stay full for ``stall_s`` it is cancelled and
    fails with ConsumerTooSlow.

    After a lost connection the session is resumed and nothing shows; what cannot be resumed fails
    with ConnectionLost. Where a session has ended, the next ``open`` begins a new one.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        api_key: str | None = None,
        token: str | None = None,
        origin: str | None = None,
        codec: Codec = "opus",
        rate: int | None = None,
        frame_ms: int = 80,
        bitrate: int | None = None,
        fec: bool | None = None,
        dtx: bool | None = None,
        lead_ms: int | None = 400,
        metadata: Mapping[str, Any] | None = None,
        traceparent: str | None = None,
        timeout_s: float = 10.0,
        buffer_bytes: int = BUFFER_BYTES,
        stall_s: float = 2.0,
        backoff: Backoff | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        access = Access(
            address=Address.parse(url),
            api_key=api_key,
            token=token,
            origin=origin,
            ssl_context=ssl_context,
        )
        self._desk = Desk(
            address=access.address,
            api_key=api_key or token,
            timeout_s=timeout_s,
            ssl_context=ssl_context,
        )
        audio = _given(codec=codec, rate=rate, frame_ms=frame_ms, bitrate=bitrate, fec=fec, dtx=dtx)
        hello = {"type": "hello", "version": 1, "audio": audio, "pacing": {"lead_ms": lead_ms}}
        hello |= _given(metadata=metadata, traceparent=traceparent)
        patience = Patience(connect_s=timeout_s, stall_s=stall_s, backoff=backoff or Backoff())
        self._connection = Connection(access, hello, patience)
        self._buffer_bytes = buffer_bytes
        self._ctx_numbers = itertools.count(1)

    async def __aenter__(self) -> Self:
        await self._connection.connected()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def ready(self) -> Ready:
        """What the server said of this session: its voice, audio format, limits."""
        if self._connection.session is None:
            raise ConnectionFailed("not connected: use `async with Client(...)`", retryable=False)
        return self._connection.session.ready

    @property
    def connect_ms(self) -> float | None:
        """How long setting up the connection took, until ``ready``."""
        return self._connection.connect_ms

    async def open(
        self,
        *,
        ctx: str | None = None,
        voice: str | None = None,
        language: str | None = None,
        speed: float | None = None,
        seed: int | None = None,
        instruct: str | None = None,
        timestamps: bool | None = None,
        levels: bool | None = None,
        text_mode: TextMode | None = None,
        max_delay_ms: int | None = None,
        priority: int | None = None,
        lexicon: Lexicon | None = None,
        reasoning: Reasoning | None = None,
        when: When | None = None,
    ) -> Context:
        """Begin a context; what is None is the server's default.

        ``lexicon`` says how words are spoken: ``{"GIF": "jif"}``, or entries with ``text`` and
        ``say``, ``pinyin`` or ``arpabet``. With ``reasoning="drop"`` what a model marks as its
        thoughts (``<think>…</think>``) is not spoken. docs/protocol.md explains the others.

        Does not wait for the server's word, so text can follow at once: a refusal (unknown voice,
        overloaded) is raised by what is done with the context next, or by ``Context.opened``.
        Raises ConnectionFailed or Refused where there is no session to be had, ValueError for the
        id of a context that is active.
        """
        opening = _given(
            voice=voice,
            language=language,
            speed=speed,
            seed=seed,
            instruct=instruct,
            timestamps=timestamps,
            levels=levels,
            text_mode=text_mode,
            max_delay_ms=max_delay_ms,
            priority=priority,
            lexicon=None if lexicon is None else lexicon_as_sent(lexicon),
            reasoning=reasoning,
            when=when,
        )
        session = await self._connection.connected()
        ctx = f"c-{next(self._ctx_numbers)}" if ctx is None else ctx
        if ctx in session.contexts:
            raise ValueError(f"context {ctx!r} is active")
        meter = Meter(session.ready.audio, self.connect_ms)
        context = Context(
            self._connection, ctx, opening, meter=meter, buffer_bytes=self._buffer_bytes
        )
        session.contexts[ctx] = context
        await self._connection.post(context)
        return context

    async def cancel_all(self, played_ms: float | None = None) -> list[Cancelled | Done]:
        """Stop every active context now; those that fail instead are left out."""
        session = self._connection.session
        active = [] if session is None else list(session.contexts.values())
        endings = await asyncio.gather(
            *(context.cancel(played_ms) for context in active), return_exceptions=True
        )
        return [ending for ending in endings if isinstance(ending, Cancelled | Done)]

    # --- voices --------------------------------------------------------------------------------

    async def list_voices(self) -> list[Voice]:
        """The server's voices, and those made with this key; needs no session."""
        return await asyncio.to_thread(rest.voices_at, self._desk)

    async def create_voice(
        self,
        audio: bytes | str | Path,
        transcript: str,
        name: str,
        consent: str,
        *,
        language: str | None = None,
        timeout_s: float = rest.VOICE_TIMEOUT_S,
    ) -> Voice:
        """A voice made of a recording, as ``cosystream.create_voice``; needs no session."""
        desk = replace(self._desk, timeout_s=timeout_s)

        def create() -> Voice:
            form = rest.voice_form(audio, transcript, name, consent, language)
            return rest.create_at(desk, form)

        return await asyncio.to_thread(create)

    async def delete_voice(self, voice: str) -> None:
        """Remove a voice made with this key, by its id; needs no session."""
        await asyncio.to_thread(rest.delete_at, self._desk, voice)

    async def close(self) -> None:
        """Close the session; contexts that are still open fail with ClientClosed."""
        await self._connection.close()


def _given(**options: Any) -> Message:
    """Those that are set: what is left out is the server's default."""
    return {name: value for name, value in options.items() if value is not None}
