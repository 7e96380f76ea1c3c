"""Structured logs on standard error: one form for our own, uvicorn's and every other library's.

Secrets never reach them: keys, tokens and ``Authorization`` values are taken out of whatever text
is logged, last before it is written. Start uvicorn with ``log_config=None``, else it takes its own
lines away. Session and context ids come by ``bound(session=…, ctx=…)``.

Knows: how a line looks, what may not stand in it. Does not know: what is worth a line.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from server.settings import LogSettings

MASK: Final = "***"

bound = structlog.contextvars.bound_contextvars
"""``with bound(session="s-1", ctx="a"):`` puts these into every line logged inside."""

_NAMES = r"token|resume_token|access_token|api[_\-]?keys?|password|secret"

_SECRETS = (
    # ?token=…, &token=…, also where the URL was escaped again
    (re.compile(rf"(?i)(\b|%3F|%26)({_NAMES})(=|%3D)[^\s&#;'\"]+"), rf"\1\2\3{MASK}"),
    # as a member of JSON, or of a dict that was printed
    (re.compile(rf"(?i)([\"'](?:{_NAMES})[\"']\s*:\s*[\"'])[^\"']+"), rf"\1{MASK}"),
    # the subprotocol token.…
    (re.compile(r"(?i)\btoken\.[\w\-.~+/=]+"), f"token.{MASK}"),
    # Authorization: Bearer …, (b'authorization', b'Basic …')
    (re.compile(r"(?i)\b(bearer|basic)(\s+|%20)[\w\-.~+/=]+"), rf"\1\2{MASK}"),
    (
        re.compile(r"(?i)\b(authorization['\"]?\s*[:=,]\s*b?['\"]?)(?!bearer|basic)[^\s'\",]+"),
        rf"\1{MASK}",
    ),
    # a token of ours, wherever it stands
    (re.compile(r"\bcst_[\w\-]{20,}"), f"cst_{MASK}"),
)

_FIRST = ("timestamp", "level", "logger", "event", "session", "ctx")

_SECRET_CHARS_MIN = 6

_SECRET_FIELDS = frozenset(
    {"authorization", "token", "resume_token", "key", "api_key", "api_keys", "password", "secret"}
)

_QUIET = ("websockets", "asyncio")
"""Libraries that tell every frame they see at ``debug``, texts included: never below info."""


_TWICE = "uvicorn.error"
"""Says at ``info`` what lines of ours say with session and client: that is for ``debug``."""


def configure(
    settings: LogSettings, secrets: Sequence[str] = (), stream: TextIO | None = None
) -> None:
    """Set up all logging of this process; ``secrets`` are values to take out wherever they stand.

    ``stream`` is standard error unless given. Calling it again replaces what was set before.
    """
    out = stream or sys.stderr
    as_json = not for_people(settings, out)
    shared = _shared(secrets)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=_rendering(as_json=as_json, colors=out.isatty()),
        )
    )
    _install(handler, settings.level.upper())


def for_people(settings: LogSettings, stream: TextIO | None = None) -> bool:
    """Whether lines are made to be read at a terminal, and not by a program."""
    out = stream or sys.stderr
    return settings.format == "console" or (settings.format == "auto" and out.isatty())


def _install(handler: logging.Handler, level: str) -> None:
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old.formatter, structlog.stdlib.ProcessorFormatter):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(root.level, logging.INFO))
    talkative = logging.DEBUG if root.level == logging.DEBUG else max(root.level, logging.WARNING)
    logging.getLogger(_TWICE).setLevel(talkative)


def _shared(secrets: Sequence[str]) -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        structlog.processors.UnicodeDecoder(),
        functools.partial(_scrub, _worth_hiding(secrets)),
    ]


def _worth_hiding(secrets: Sequence[str]) -> tuple[str, ...]:
    """The longest first, since one may contain another; a very short one would blot out words."""
    long_enough = {secret for secret in secrets if len(secret) >= _SECRET_CHARS_MIN}
    return tuple(sorted(long_enough, key=len, reverse=True))


def _rendering(*, as_json: bool, colors: bool) -> list[Processor]:
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if as_json:
        dumps = functools.partial(json.dumps, ensure_ascii=False)
        render = structlog.processors.JSONRenderer(serializer=dumps, default=repr)
        return [remove, _in_order, render]
    console = structlog.dev.ConsoleRenderer(colors=colors)
    return [remove, _without_nothing, _escape_controls, console]


def _without_nothing(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A program expects every field; people read what there is."""
    return {name: value for name, value in event.items() if value is not None}


def _in_order(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """What every line has comes first."""
    return {**{name: event[name] for name in _FIRST if name in event}, **event}


# --- what may not be logged ----------------------------------------------------------------


def _scrub(
    secrets: tuple[str, ...], _logger: WrappedLogger, _method: str, event: EventDict
) -> EventDict:
    return {name: _clean_field(name, value, secrets) for name, value in event.items()}


def _clean_field(name: object, value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(name, str) and name.lower() in _SECRET_FIELDS and value is not None:
        return MASK
    return _clean(value, secrets)


def _clean(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return clean_text(value, secrets)
    if isinstance(value, bool | int | float | None):
        return value
    if isinstance(value, Mapping):
        return {k: _clean_field(k, item, secrets) for k, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(item, secrets) for item in value]
    return value


def clean_text(text: str, secrets: Sequence[str] = ()) -> str:
    """``text`` without the secrets that it names or that are given, lone surrogates escaped."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    for pattern, masked in _SECRETS:
        text = pattern.sub(masked, text)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_MANY_LINES = frozenset({"exception", "stack"})


def _escape_controls(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """No client can write a line of its own, or drive the terminal, by what it sends."""
    return {
        name: value if name in _MANY_LINES else _printable(value) for name, value in event.items()
    }


def _printable(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", value)
