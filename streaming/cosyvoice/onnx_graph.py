"""Small ONNX files, written without the onnx package.

A model in ONNX is a protobuf message; the few fields that a small graph needs are written here
directly, so that a random checkpoint can be made wherever the server runs (the onnx package
weighs 20 MB and would serve nothing else).
Knows: the field numbers of ``onnx.proto3``. Does not know: any network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy.typing as npt

from streaming.protobuf import content, number

OPSET: Final = 17
_IR_VERSION: Final = 8
_FLOAT, _INT32, _INT64 = 1, 6, 7
_TYPES: Final = {"float32": _FLOAT, "int32": _INT32, "int64": _INT64}
_ATTRIBUTE_INT, _ATTRIBUTE_INTS = 2, 7


@dataclass(frozen=True)
class Value:
    """An input or output: a name for a free dimension, a number for a fixed one."""

    name: str
    kind: str
    shape: Sequence[int | str]


@dataclass(frozen=True)
class Node:
    """One operation; attributes are whole numbers or lists of them."""

    operation: str
    inputs: Sequence[str]
    output: str
    attributes: Mapping[str, int | Sequence[int]] = field(default_factory=dict)


def model(
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    nodes: Sequence[Node],
    constants: Mapping[str, npt.NDArray[Any]],
) -> bytes:
    """The bytes of a ``.onnx`` file: ``ModelProto`` with one graph and opset 17."""
    graph = b"".join(content(1, _node(node)) for node in nodes) + _text(2, "graph")
    graph += b"".join(content(5, _tensor(name, value)) for name, value in constants.items())
    graph += b"".join(content(11, _value(value)) for value in inputs)
    graph += b"".join(content(12, _value(value)) for value in outputs)
    return number(1, _IR_VERSION) + content(8, number(2, OPSET)) + content(7, graph)


def _node(node: Node) -> bytes:
    written = b"".join(_text(1, name) for name in node.inputs)
    written += _text(2, node.output) + _text(4, node.operation)
    return written + b"".join(content(5, _attribute(*item)) for item in node.attributes.items())


def _attribute(name: str, value: int | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + number(3, value) + number(20, _ATTRIBUTE_INT)
    numbers = b"".join(number(8, each) for each in value)
    return _text(1, name) + numbers + number(20, _ATTRIBUTE_INTS)


def _tensor(name: str, value: npt.NDArray[Any]) -> bytes:
    dimensions = b"".join(number(1, size) for size in value.shape)
    kind = number(2, _TYPES[value.dtype.name])
    return dimensions + kind + _text(8, name) + content(9, value.tobytes())


def _value(value: Value) -> bytes:
    dimensions = b"".join(
        content(1, _text(2, size) if isinstance(size, str) else number(1, size))
        for size in value.shape
    )
    tensor = number(1, _TYPES[value.kind]) + content(2, dimensions)
    return _text(1, value.name) + content(2, content(1, tensor))


def _text(place: int, value: str) -> bytes:
    return content(place, value.encode())
