"""Why a message does not fit its shape, in words: the field, what is allowed, the value.

Knows: msgspec's complaints and shapes. Does not know: which messages there are, or who sent one.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar

import msgspec
from msgspec import inspect

from streaming.errors import BadJson, InvalidValue

T = TypeVar("T", bound=msgspec.Struct)

DEPTH_MAX: Final = 32
"""Nothing that is asked for is nested deeper; what is could not be written out again."""

_SHOWN_CHARS: Final = 60
_NAMED = re.compile(r"`(.*)`")
_PAIR = re.compile(r"\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w")
_HALF = re.compile(r"\\u[dD][89a-fA-F]\w\w")
_STEP = re.compile(r"\[[^\]]*\]|[^.`\[\]]+")
"""A field's name, or ``[3]`` for an item of a list, or ``[...]`` for one it does not number."""


def explain(fault: msgspec.ValidationError, message: Any, shape: type[msgspec.Struct]) -> str:
    """``Expected `int` >= 1 - at `$.audio.rate``` as ``audio.rate: expected `int` >= 1, got 0``."""
    what, _, where = str(fault).partition(" - at `$")
    path = _STEP.findall(where)
    named = _NAMED.search(what)
    if named and what.startswith("Object missing"):
        return f"{_spell([*path, named[1]])}: required, but it is missing"
    if named and what.startswith("Object contains unknown"):
        known = ", ".join(_fields(_type_at(shape, path)))
        return f"{_spell([*path, named[1]])}: unknown field; known: {known}"
    if choices := what.startswith("Invalid enum") and _choices(_type_at(shape, path)):
        what = f"expected one of {', '.join(choices)}"
    if limits := re.match(r"Expected `(int|float)` [<>]=", what) and _limits(_type_at(shape, path)):
        what = f"expected {limits}"
    what = what[:1].lower() + what[1:]
    if not path:
        return f"{what}; send one JSON object"
    what, _, _ = what.partition(", got `")  # the value itself says more than its type
    return f"{_spell(path)}: {what}, got {show(_value_at(message, path))}"


def read(body: bytes, shape: type[T]) -> T:
    """A request's JSON body as its shape.

    Raises:
        BadJson: it is not JSON.
        InvalidValue: a field is missing, unknown, of the wrong type or out of range.
    """
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        why = not_json(body, fault)
        raise BadJson(f"the body is not JSON: {why}; send one JSON object") from fault
    return convert(message, shape)


def not_json(raw: str | bytes, fault: Exception) -> str:
    """What is wrong with it: the decoder's words, which do not help where half a pair was sent."""
    text = raw if isinstance(raw, str) else raw.decode(errors="replace")
    half = _HALF.search(_PAIR.sub("", text))
    if half is None:
        return str(fault)
    return f"{half[0]} is half of a surrogate pair, which both belong into one text"


def convert(message: Any, shape: type[T], *, strict: bool = True) -> T:
    """A decoded message as its shape; not ``strict`` where every value is a string.

    Raises:
        InvalidValue: as ``read``.
    """
    try:
        return msgspec.convert(message, shape, strict=strict)
    except msgspec.ValidationError as fault:
        raise InvalidValue(explain(fault, message, shape)) from fault


def show(value: Any) -> str:
    """The value as it came, but never long."""
    text = msgspec.json.encode(value).decode(errors="replace")
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def too_deep(value: Any, depth: int = DEPTH_MAX) -> bool:
    """Whether lists and objects are nested deeper than ``depth``."""
    # Level by level: a message may hold hundreds of thousands of values, and others wait.
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    return bool(level)


def _spell(path: list[str]) -> str:
    return ".".join(path).replace(".[", "[")


def _value_at(message: Any, path: list[str]) -> Any:
    """The value there, or the last on the way to it that is known."""
    for name in path:
        if isinstance(message, dict):
            message = message.get(name)
        elif isinstance(message, list) and name[1:-1].isdigit():
            message = message[int(name[1:-1])]
    return message


def _type_at(shape: type[msgspec.Struct], path: list[str]) -> inspect.Type:
    found = inspect.type_info(shape)
    for name in path:
        found = _within(found, name)
    return found


def _within(kind: inspect.Type, name: str) -> inspect.Type:
    for option in _options(kind):
        if name.startswith("[") and isinstance(option, inspect.CollectionType):
            return option.item_type
        if isinstance(option, inspect.StructType):
            return next(field.type for field in option.fields if field.encode_name == name)
    return inspect.AnyType()


def _fields(kind: inspect.Type) -> list[str]:
    structs = (option for option in _options(kind) if isinstance(option, inspect.StructType))
    return [field.encode_name for struct in structs for field in struct.fields]


def _choices(kind: inspect.Type) -> list[str]:
    literals = (option for option in _options(kind) if isinstance(option, inspect.LiteralType))
    return [str(value) for literal in literals for value in literal.values]


def _limits(kind: inspect.Type) -> str:
    """``0.5 to 2.0`` where a number has both ends, else nothing."""
    numbers = (inspect.IntType, inspect.FloatType)
    found = [(option.ge, option.le) for option in _options(kind) if isinstance(option, numbers)]
    return next((f"{ge} to {le}" for ge, le in found if None not in {ge, le}), "")


def _options(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)
