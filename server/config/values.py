"""One value from a file, a variable or a flag, made into the type its setting has.

Knows: types, how a value is written as text, how a wrong one is named in an error. Does not know:
ranges (``rules.py``), or which value wins.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, NoReturn, get_args, get_origin

import msgspec

from server.config.keys import SECRET_KEYS, ConfigError, Key
from server.hot_fix import HotFix
from server.settings import Allowance, ApiKey
from streaming.config import LexiconLine

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_SHOWN_CHARS = 80
_ALLOWANCE = tuple(field.name for field in fields(Allowance))


@dataclass(frozen=True)
class Given:
    """A value as it was written, and where: ``source`` begins the errors that speak of it.

    ``text`` is true for variables and flags, where all is text; a TOML value has a type already.
    """

    value: Any
    source: str
    text: bool = False


def refuse(name: str, given: Given, allowed: str) -> NoReturn:
    """Raise the error that names the setting, its value (unless secret) and what is allowed."""
    if name in SECRET_KEYS:
        raise ConfigError(f"{given.source}: {name}: {allowed} (values are not shown)")
    raise ConfigError(f"{given.source}: {name} is {shown(given.value)}; allowed: {allowed}")


def shown(value: Any) -> str:
    """A value as one would write it, cut where it is long."""
    if value is None:
        return "not set"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def convert(key: Key, given: Given) -> Any:
    """The value in the setting's type. Raises ConfigError."""
    hint = key.hint
    if get_origin(hint) is types.UnionType:  # `str | None`: no other union is in use
        return None if given.text and given.value == "" else _string(key, given)
    if get_origin(hint) is Literal:
        return _choice(key, given)
    if get_origin(hint) is tuple:
        return _list(key, given)
    return _SCALARS[hint](key, given)


def _string(key: Key, given: Given) -> str:
    if not isinstance(given.value, str):
        refuse(key.name, given, "text")
    return given.value


def _choice(key: Key, given: Given) -> str:
    choices: tuple[str, ...] = get_args(key.hint)
    if given.value not in choices:
        refuse(key.name, given, " | ".join(choices))
    return str(given.value)


def _boolean(key: Key, given: Given) -> bool:
    if isinstance(given.value, bool):
        return given.value
    if given.text and given.value.lower() in _TRUE | _FALSE:
        return given.value.lower() in _TRUE
    refuse(key.name, given, "true | false")


def _whole(key: Key, given: Given) -> int:
    value = _parsed(int, given)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    refuse(key.name, given, "a whole number")


def _number(key: Key, given: Given) -> float:
    value = _parsed(float, given)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    refuse(key.name, given, "a number")


def _parsed(kind: Callable[[str], Any], given: Given) -> Any:
    if not given.text:
        return given.value
    try:
        return kind(given.value)
    except ValueError:
        return None


_SCALARS: dict[Any, Callable[[Key, Given], Any]] = {
    str: _string,
    bool: _boolean,
    int: _whole,
    float: _number,
}


def _list(key: Key, given: Given) -> tuple[Any, ...]:
    if get_args(key.hint)[0] is LexiconLine:
        return _lexicon(key, given)
    items = _items(key, given)
    if get_args(key.hint)[0] is ApiKey:
        if given.text and given.value.strip(" []") and not items:  # nobody means no keys by that
            refuse(key.name, given, "keys with commas between them, or nothing: no keys")
        return tuple(_api_key(key, given, item) for item in items)
    if not all(isinstance(item, str) for item in items):
        refuse(key.name, given, "a list of texts")
    return tuple(items)


def _items(key: Key, given: Given) -> list[Any]:
    value = given.value
    if given.text and value.lstrip().startswith("["):
        value = _json(key, given, "a JSON list, or items with commas between them")
    elif given.text:
        value = [item.strip() for item in value.split(",") if item.strip()]
    if not isinstance(value, list):
        refuse(key.name, given, "a list")
    return value


def _api_key(key: Key, given: Given, item: Any) -> ApiKey:
    if isinstance(item, str):
        name, colon, secret = item.partition(":")
        if colon:
            return ApiKey(name.strip(), secret.strip())
    if isinstance(item, dict) and {"name", "key"} <= set(item) <= {"name", "key", *_ALLOWANCE}:
        name, secret = (_member(key, given, item[part]) for part in ("name", "key"))
        return ApiKey(name, secret, _allowance(key, given, item))
    refuse(
        key.name,
        given,
        'each entry must be "name:key" or {name = "…", key = "…"}, in which may also stand '
        + ", ".join(_ALLOWANCE),
    )


def _allowance(key: Key, given: Given, item: dict[str, Any]) -> Allowance:
    """What a key is given beside its name; a number that is none is not shown either."""
    found = {name: item[name] for name in _ALLOWANCE if name in item}
    if any(not isinstance(value, int) or isinstance(value, bool) for value in found.values()):
        refuse(key.name, given, f"{', '.join(found)} of a key must be whole numbers")
    return Allowance(**found)


def _json(key: Key, given: Given, allowed: str) -> Any:
    try:
        return json.loads(given.value)
    except ValueError:
        refuse(key.name, given, allowed)


def _lexicon(key: Key, given: Given) -> tuple[LexiconLine, ...]:
    """A list of entries, or DashScope's form, which is a table."""
    value = given.value
    if given.text and value.lstrip().startswith("{"):
        value = _json(key, given, "entries in a JSON list, or a JSON object of DashScope's form")
    if not isinstance(value, dict):
        return tuple(_lexicon_line(key, given, item) for item in _items(key, given))
    known = HotFix.__struct_fields__
    if not set(value) <= set(known):
        refuse(key.name, given, f"a list of entries, or a table of {' and '.join(known)}")
    try:
        entries = msgspec.convert(value, HotFix).entries()
    except msgspec.ValidationError as error:
        refuse(key.name, given, f"words whose values are good; {error}")
    return tuple(LexiconLine(**msgspec.structs.asdict(entry)) for entry in entries)


def _lexicon_line(key: Key, given: Given, item: Any) -> LexiconLine:
    known = LexiconLine.__struct_fields__
    if not isinstance(item, dict) or not set(item) <= set(known):
        refuse(key.name, given, f"each entry is a table of {', '.join(known)}")
    try:
        return msgspec.convert(item, LexiconLine)
    except msgspec.ValidationError as error:
        refuse(key.name, given, f"entries whose values are good; of one, {error}")


def _member(key: Key, given: Given, value: Any) -> str:
    if not isinstance(value, str):
        refuse(key.name, given, "name and key must be texts")
    return value
