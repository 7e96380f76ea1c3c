"""Speech without asyncio: ``say``, ``say_to_file``, ``stream``.

Knows: how to run the client's loop in a thread of its own, so that it works in a notebook or
inside another loop too. Does not know: the protocol.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Unpack

from cosystream.address import DEFAULT_URL
from cosystream.client import Client
from cosystream.context import Context
from cosystream.events import AudioFormat, Codec, Done, Packet
from cosystream.files import AudioFile, OpusFile, RawFile, WavFile
from cosystream.options import OpenOptions, Options
from cosystream.stats import Stats
from cosystream.threads import LoopThread, pieces_of


@dataclass(frozen=True, slots=True)
class Speech:
    """What ``say`` returns: 16-bit little-endian mono PCM, and what was measured."""

    pcm: bytes = field(repr=False)
    sample_rate: int
    stats: Stats


def say(
    text: str, *, url: str = DEFAULT_URL, rate: int = 24_000, **options: Unpack[Options]
) -> Speech:
    """Speak ``text`` and return it whole.

    ``options`` are those of ``Client`` (api_key, token, timeout_s, ...) and of ``Client.open``
    (voice, speed, lexicon, ...). Raises what they raise.
    """
    file = BytesIO()
    stats = _speak(text, lambda audio: RawFile(file, audio), url, "pcm_s16le", rate, options)
    return Speech(file.getvalue(), rate, stats)


def say_to_file(
    text: str,
    path: str | Path,
    *,
    url: str = DEFAULT_URL,
    rate: int | None = None,
    **options: Unpack[Options],
) -> Stats:
    """Speak ``text`` into a ``.wav``, ``.opus`` or ``.ogg`` file; options as for ``say``."""
    kinds: dict[str, tuple[Codec, Callable[..., AudioFile]]] = {
        ".wav": ("pcm_s16le", WavFile),
        ".opus": ("opus", OpusFile),
        ".ogg": ("opus", OpusFile),
    }
    suffix = Path(path).suffix.lower()
    if suffix not in kinds:
        raise ValueError(f"{str(path)!r}: the name must end with one of {', '.join(kinds)}")
    codec, container = kinds[suffix]
    with Path(path).open("wb") as file:
        return _speak(text, lambda audio: container(file, audio), url, codec, rate, options)


def stream(
    text: str | Iterable[str],
    *,
    url: str = DEFAULT_URL,
    codec: Codec = "opus",
    rate: int | None = None,
    **options: Unpack[Options],
) -> Iterator[Packet]:
    """Speak ``text``, or pieces of text as they come, and yield packets as they come.

    Leaving the loop (``break``, an exception, ``close()``) cancels the speech and ends the thread.
    A thread that waits inside your iterable for its next piece ends when that piece comes.
    """
    client_options, open_options = _split(options)
    with LoopThread() as loop:
        client = loop.run(_connect(Client(url, codec=codec, rate=rate, **client_options)))
        try:
            context = loop.run(_begin(client, text, open_options))
            packets = aiter(context)
            while (packet := loop.run(_next(packets))) is not None:
                yield packet
        finally:
            loop.run(client.close())


def _speak(
    text: str,
    container: Callable[[AudioFormat], AudioFile],
    url: str,
    codec: Codec,
    rate: int | None,
    options: Options,
) -> Stats:
    client_options, open_options = _split(options)
    client_options.setdefault("lead_ms", None)

    async def speak() -> Stats:
        async with Client(url, codec=codec, rate=rate, **client_options) as client:
            context = await _begin(client, text, open_options)
            file, done = container(client.ready.audio), None
            async for event in context.events():
                if isinstance(event, Packet):
                    file.write(event.payload)
                elif isinstance(event, Done):
                    done = event
            file.finish(done.samples if done else None)
            return context.stats()

    with LoopThread() as loop:
        return loop.run(speak())


async def _connect(client: Client) -> Client:
    return await client.__aenter__()


async def _begin(client: Client, text: str | Iterable[str], options: dict[str, Any]) -> Context:
    context = await client.open(**options)
    if isinstance(text, str):
        await context.send(text, end=True)
    else:
        context.feed(pieces_of(text))
    return context


async def _next(packets: AsyncIterator[Packet]) -> Packet | None:
    return await anext(packets, None)


def _split(options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    of_context = OpenOptions.__annotations__
    opening = {name: value for name, value in options.items() if name in of_context}
    return {name: value for name, value in options.items() if name not in of_context}, opening
