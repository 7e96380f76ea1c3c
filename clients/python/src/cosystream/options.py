"""What may be said of a session and of a context, as types: ``Client`` and ``Client.open``.

Knows: names and shapes, so that editors can complete them where ``**options`` are passed on, and
how a lexicon of plain words looks on the wire. Does not know: defaults, which are the server's.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

from cosystream.backoff import Backoff

TextMode = Literal["auto", "sentence", "manual", "interleaved"]
When = Literal["queue", "interrupt", "replace"]
Reasoning = Literal["speak", "drop"]


class LexiconEntry(TypedDict, total=False):
    """How ``text`` is spoken: in other words, in phones, or both."""

    text: Required[str]
    say: str
    pinyin: str
    arpabet: str


class HotFix(TypedDict, total=False):
    """The same in DashScope's form: a list of ``{word: pinyin}``, another of ``{word: words}``."""

    pronunciation: Sequence[Mapping[str, str]]
    replace: Sequence[Mapping[str, str]]


Lexicon = Mapping[str, str] | Sequence[LexiconEntry] | HotFix
"""``{"GIF": "jif"}``, a list of entries, or DashScope's form."""


class OpenOptions(TypedDict, total=False):
    """Of one context; docs/protocol.md (``open``) explains each."""

    voice: str | None
    language: str | None
    speed: float | None
    seed: int | None
    instruct: str | None
    timestamps: bool | None
    levels: bool | None
    text_mode: TextMode | None
    max_delay_ms: int | None
    priority: int | None
    lexicon: Lexicon | None
    reasoning: Reasoning | None


class SessionOptions(TypedDict, total=False):
    """Of the session; ``Client`` explains each."""

    api_key: str | None
    token: str | None
    origin: str | None
    frame_ms: int
    bitrate: int | None
    fec: bool | None
    dtx: bool | None
    lead_ms: int | None
    metadata: Mapping[str, Any] | None
    traceparent: str | None
    timeout_s: float
    buffer_bytes: int
    stall_s: float
    backoff: Backoff | None
    ssl_context: ssl.SSLContext | None


class Options(SessionOptions, OpenOptions, total=False):
    """Both: what ``say``, ``say_to_file`` and ``stream`` take by name."""


def lexicon_as_sent(lexicon: Lexicon) -> object:
    """Words of a mapping become entries; the other forms are the protocol's own already."""
    if not isinstance(lexicon, Mapping):
        return list(lexicon)
    if all(isinstance(say, str) for say in lexicon.values()):
        return [{"text": text, "say": say} for text, say in lexicon.items()]
    return lexicon
