"""Refusals in words, and HTTP bodies read by their shape."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from server import invalid
from streaming.errors import BadJson, InvalidValue


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    """Something inside something."""

    kind: Literal["a", "b"]


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked for."""

    count: Annotated[int, Meta(ge=1)] = 1
    speed: Annotated[float, Meta(ge=0.5, le=2.0)] | None = None
    kind: Literal["mp3", "wav"] | None = None
    inner: Inner | None = None
    many: tuple[Inner, ...] = ()
    names: list[str] | None = None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"count": 0}, "count: expected `int` >= 1, got 0"),
        ({"speed": 3}, "speed: expected 0.5 to 2.0, got 3"),
        ({"speed": "x"}, 'speed: expected `float | null`, got "x"'),
        ({"count": "x"}, 'count: expected `int`, got "x"'),
        ({"kind": "xyz"}, 'kind: expected one of mp3, wav, got "xyz"'),
        ({"kind": 3}, "kind: expected `str | null`, got 3"),
        ({"colour": 3}, "colour: unknown field; known: count, speed, kind, inner, many, names"),
        ({"inner": {}}, "inner.kind: required, but it is missing"),
        ({"inner": {"kind": "c"}}, 'inner.kind: expected one of a, b, got "c"'),
        ({"inner": {"kind": "a", "x": 1}}, "inner.x: unknown field; known: kind"),
        ({"many": 3}, "many: expected `array`, got 3"),
        ({"many": [{"kind": "c"}]}, 'many[0].kind: expected one of a, b, got "c"'),
        ({"many": [{}]}, "many[0].kind: required, but it is missing"),
        ({"many": [{"kind": "a", "x": 1}]}, "many[0].x: unknown field; known: kind"),
        ({"names": ["a", 3]}, "names[1]: expected `str`, got 3"),
        ([1], "expected `object`, got `array`; send one JSON object"),
        (None, "expected `object`, got `null`; send one JSON object"),
    ],
)
def test_field_value_and_what_is_allowed_are_named(body: object, told: str) -> None:
    with pytest.raises(InvalidValue) as fault:
        invalid.read(json.dumps(body).encode(), Shape)
    assert fault.value.message == told


@pytest.mark.parametrize("body", [b"", b"count=1", b"\xff", b"{", b"[" * 100_000])
def test_a_body_that_is_no_json_is_told_apart(body: bytes) -> None:
    with pytest.raises(BadJson):
        invalid.read(body, Shape)


def test_a_query_holds_strings_and_they_are_read_as_what_they_mean() -> None:
    assert invalid.convert({"count": "7", "kind": "mp3"}, Shape, strict=False).count == 7
    with pytest.raises(InvalidValue, match=r'count: .*got "x"'):
        invalid.convert({"count": "x"}, Shape, strict=False)


@pytest.mark.parametrize(
    ("value", "depth", "deep"),
    [
        (1, 0, False),
        ([], 0, True),
        ([1, {"a": 2}], 2, False),
        ([1, {"a": [2]}], 2, True),
        ({"a": [[]]}, 3, False),
    ],
)
def test_depth_counts_lists_and_objects(value: object, depth: int, deep: bool) -> None:
    assert invalid.too_deep(value, depth) is deep
