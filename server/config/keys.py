"""Every setting by its dotted name, read from the dataclasses themselves.

Knows: names, types, defaults, what a mistyped name was meant to be. Does not know: where values
come from, or which of them make sense.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from server.settings import Settings

SECRET_KEYS = frozenset({"access.api_keys"})
"""Settings whose values no message, log or description may show."""

MASK = "***"

PATHS = frozenset({"engine.model", "engine.trace", "engine.voices_dir", "engine.cosyvoice.profile"})
"""Settings that name a file or a folder; ``~`` is the user's own in each, as in a shell."""


class ConfigError(Exception):
    """The settings cannot be used; the message says which, where it stands, and what is allowed.

    Whoever starts the server prints it without a traceback and exits with code 2.
    """


@dataclass(frozen=True)
class Key:
    """One setting: ``hint`` is the type its dataclass declares."""

    name: str
    hint: Any
    default: Any


def _walk(kind: type[Any], prefix: str) -> Iterator[tuple[str, Any, Any]]:
    hints = get_type_hints(kind)
    default = kind()
    for item in dataclasses.fields(kind):
        hint = hints[item.name]
        yield f"{prefix}{item.name}", hint, getattr(default, item.name)
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            yield from _walk(hint, f"{prefix}{item.name}.")


_ALL = list(_walk(Settings, ""))

SECTIONS = frozenset(name for name, hint, _ in _ALL if dataclasses.is_dataclass(hint))
"""Names that hold settings and are none: ``listen``, ``engine``, ``engine.text``."""

KEYS: dict[str, Key] = {name: Key(name, hint, d) for name, hint, d in _ALL if name not in SECTIONS}
"""All settings, in the order in which the dataclasses have them."""


def nearest(name: str) -> str | None:
    """The setting that ``name`` was probably meant to be, or none that is near enough."""
    if close := difflib.get_close_matches(name, KEYS, n=1, cutoff=0.7):
        return close[0]
    leaves: dict[str, str] = {}
    for known in KEYS:
        leaves.setdefault(known.rpartition(".")[2], known)
    close = difflib.get_close_matches(name.rpartition(".")[2], leaves, n=1, cutoff=0.7)
    return leaves[close[0]] if close else None


def build(values: Mapping[str, Any]) -> Settings:
    """The settings with the values given by dotted name, defaults elsewhere."""
    settings = _build(Settings, values, "")
    assert isinstance(settings, Settings)
    return settings


def _build(kind: type[Any], values: Mapping[str, Any], prefix: str) -> Any:
    hints = get_type_hints(kind)
    fields: dict[str, Any] = {}
    for item in dataclasses.fields(kind):
        name = f"{prefix}{item.name}"
        if name in SECTIONS:
            fields[item.name] = _build(hints[item.name], values, f"{name}.")
        elif name in values:
            fields[item.name] = values[name]
    return kind(**fields)


def flat(settings: Settings) -> dict[str, Any]:
    """Each setting's value by its dotted name."""
    return {name: _get(settings, name) for name in KEYS}


def _get(settings: Settings, name: str) -> Any:
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value
