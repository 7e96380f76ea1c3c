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


def explain(fault: msgspec.ValidationError, message: Any, shape: type[msgspec.Struct]) -> str:
    """``Expected `int` >= 1 - at `$.audio.rate``` as ``audio.rate: expected `int` >= 1, got 0``."""
    what, _, where = str(fault).partition(" - at `$")
    path = [name for name in re.split(r"[.\[]", where.rstrip("`")) if name]
    if (named := _NAMED.search(what)) and what.startswith("Object missing"):
        return f"{'.'.join([*path, named[1]])}: required, but it is missing"
    if named and what.startswith("Object contains unknown"):
        known = ", ".join(_shape_at(shape, path).__struct_fields__)
        return f"{'.'.join([*path, named[1]])}: unknown field; known: {known}"
    if what.startswith("Invalid enum value"):
        what = f"expected one of {', '.join(_choices(_shape_at(shape, path[:-1]), path[-1]))}"
    what = what[:1].lower() + what[1:]
    if not path:
        return f"{what}; send one JSON object"
    what, _, _ = what.partition(", got `")  # the value itself says more than its type
    return f"{'.'.join(path)}: {what}, got {show(_value_at(message, path))}"


def read(body: bytes, shape: type[T]) -> T:
    """A request's JSON body as its shape.

    Raises:
        BadJson: it is not JSON.
        InvalidValue: a field is missing, unknown, of the wrong type or out of range.
    """
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise BadJson(f"the body is not JSON: {fault}; send one JSON object") from fault
    return convert(message, shape)


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
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(too_deep(item, depth - 1) for item in inner)


def _value_at(message: Any, path: list[str]) -> Any:
    for name in path:
        message = message.get(name) if isinstance(message, dict) else None
    return message


def _shape_at(shape: type[msgspec.Struct], path: list[str]) -> type[msgspec.Struct]:
    for name in path:
        kinds = _kinds(shape, name)
        shape = next(kind.cls for kind in kinds if isinstance(kind, inspect.StructType))
    return shape


def _choices(shape: type[msgspec.Struct], name: str) -> list[str]:
    literals = (kind for kind in _kinds(shape, name) if isinstance(kind, inspect.LiteralType))
    return [str(value) for kind in literals for value in kind.values]


def _kinds(shape: type[msgspec.Struct], name: str) -> tuple[inspect.Type, ...]:
    told = inspect.type_info(shape)
    assert isinstance(told, inspect.StructType)
    kind = next(field.type for field in told.fields if field.encode_name == name)
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)
