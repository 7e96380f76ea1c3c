"""Client of a cosystream server: send text while it is written, take speech as it is made.

Names are loaded when they are first asked for, so that ``cosystream --help`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cosystream.backoff import Backoff
    from cosystream.client import Client
    from cosystream.context import Context
    from cosystream.errors import (
        DOCS_URL,
        ClientClosed,
        ConnectionFailed,
        ConnectionLost,
        ConsumerTooSlow,
        ContextFailed,
        CosystreamError,
        MessageRefused,
        MissingExtra,
        ProtocolViolation,
        Refused,
        SessionEnded,
        TimedOut,
    )
    from cosystream.events import (
        AudioFormat,
        Cancelled,
        ContextEvent,
        Done,
        Flushed,
        GoingAway,
        Levels,
        Opened,
        Packet,
        Queued,
        Ready,
        SegmentEvent,
        Token,
        Voice,
        WarningEvent,
        Word,
        Words,
    )
    from cosystream.options import HotFix, Lexicon, LexiconEntry
    from cosystream.rest import create_voice, delete_voice, get_token, list_voices
    from cosystream.stats import Stats
    from cosystream.sync import Speech, say, say_to_file, stream
    from cosystream.version import __version__

_HOMES = {
    "backoff": ("Backoff",),
    "client": ("Client",),
    "context": ("Context",),
    "errors": (
        "DOCS_URL",
        "ClientClosed",
        "ConnectionFailed",
        "ConnectionLost",
        "ConsumerTooSlow",
        "ContextFailed",
        "CosystreamError",
        "MessageRefused",
        "MissingExtra",
        "ProtocolViolation",
        "Refused",
        "SessionEnded",
        "TimedOut",
    ),
    "events": (
        "AudioFormat",
        "Cancelled",
        "ContextEvent",
        "Done",
        "Flushed",
        "GoingAway",
        "Levels",
        "Opened",
        "Packet",
        "Queued",
        "Ready",
        "SegmentEvent",
        "Token",
        "Voice",
        "WarningEvent",
        "Word",
        "Words",
    ),
    "options": ("HotFix", "Lexicon", "LexiconEntry"),
    "rest": ("create_voice", "delete_voice", "get_token", "list_voices"),
    "stats": ("Stats",),
    "sync": ("Speech", "say", "say_to_file", "stream"),
    "version": ("__version__",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "DOCS_URL",
    "AudioFormat",
    "Backoff",
    "Cancelled",
    "Client",
    "ClientClosed",
    "ConnectionFailed",
    "ConnectionLost",
    "ConsumerTooSlow",
    "Context",
    "ContextEvent",
    "ContextFailed",
    "CosystreamError",
    "Done",
    "Flushed",
    "GoingAway",
    "HotFix",
    "Levels",
    "Lexicon",
    "LexiconEntry",
    "MessageRefused",
    "MissingExtra",
    "Opened",
    "Packet",
    "ProtocolViolation",
    "Queued",
    "Ready",
    "Refused",
    "SegmentEvent",
    "SessionEnded",
    "Speech",
    "Stats",
    "TimedOut",
    "Token",
    "Voice",
    "WarningEvent",
    "Word",
    "Words",
    "__version__",
    "create_voice",
    "delete_voice",
    "get_token",
    "list_voices",
    "say",
    "say_to_file",
    "stream",
]


def __getattr__(name: str) -> object:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
