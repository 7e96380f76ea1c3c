"""A part of an ONNX model as a model of its own: from some of its tensors to others.

An ONNX file is a protocol buffer, and a part is the same nodes and weights, fewer of them, between
other inputs and outputs; so reading its outer two layers is enough. Knows: that much of the format.
Does not know: what any node computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from streaming.protobuf import content, fields, number

Floats = npt.NDArray[np.float32]

_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_WEIGHT, _GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_SHAPES = 1, 5, 11, 12, 13
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_OP = 1, 2, 3, 4
_TENSOR_DIMS, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_DATA = 1, 2, 8, 9
_VALUE_NAME, _VALUE_TYPE = 1, 2
_FLOAT = 1


@dataclass(frozen=True)
class _Node:
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str
    op: str
    raw: memoryview


class Graph:
    """The nodes and weights of a model, to be taken apart."""

    def __init__(self, model: bytes) -> None:
        """Read it.

        Raises:
            ValueError: it is no ONNX model.
        """
        self._head: list[memoryview] = []
        self._nodes: list[_Node] = []
        self._weights: dict[str, memoryview] = {}
        self._inputs: dict[str, memoryview] = {}
        self._rest: list[memoryview] = []
        try:
            self._read(memoryview(model))
        except ValueError as error:
            raise ValueError(f"this is no ONNX model: {error}") from error
        if not self._nodes:
            raise ValueError("this is no ONNX model: it has no node")

    def _read(self, model: memoryview) -> None:
        for field, value, raw in fields(model):
            if field == _MODEL_GRAPH:
                self._read_graph(value)
            else:
                self._head.append(raw)

    def _read_graph(self, graph: memoryview) -> None:
        for field, value, raw in fields(graph):
            if field == _GRAPH_NODE:
                self._nodes.append(_node(value, raw))
            elif field == _GRAPH_WEIGHT:
                self._weights[_strings(value, _TENSOR_NAME)[0]] = raw
            elif field == _GRAPH_INPUT:
                self._inputs[_strings(value, _VALUE_NAME)[0]] = raw
            elif field not in {_GRAPH_OUTPUT, _GRAPH_SHAPES}:
                self._rest.append(raw)

    def outputs_of(self, op: str, within: str) -> list[str]:
        """The first output of each node of that kind whose name begins with ``within``."""
        return [
            node.outputs[0]
            for node in self._nodes
            if node.op == op and node.name.startswith(within)
        ]

    def part(
        self,
        outputs: Sequence[str],
        *,
        given: Mapping[str, int] | None = None,
        constants: Mapping[str, Floats] | None = None,
    ) -> bytes:
        """The model that computes ``outputs``.

        ``given`` are tensors of floats, with their rank, that become its inputs beside those of
        the whole model that it still needs; ``constants`` replace what was computed.
        """
        given, constants = given or {}, constants or {}
        stop = given.keys() | constants.keys()
        needed, nodes = set(outputs), []
        for node in reversed(self._nodes):
            if needed.intersection(node.outputs) - stop:
                nodes.append(node.raw)
                needed.update(node.inputs)
        pieces: list[bytes | memoryview] = [
            *reversed(nodes),
            *self._rest,
            *(raw for name, raw in self._weights.items() if name in needed),
            *(raw for name, raw in self._inputs.items() if name in needed),
            *(content(_GRAPH_WEIGHT, _tensor(name, value)) for name, value in constants.items()),
            *(content(_GRAPH_INPUT, _value(name, rank)) for name, rank in given.items()),
            *(content(_GRAPH_OUTPUT, _value(name)) for name in outputs),
        ]
        parts: list[bytes | memoryview] = [*self._head, content(_MODEL_GRAPH, b"".join(pieces))]
        return b"".join(parts)


def _node(value: memoryview, raw: memoryview) -> _Node:
    return _Node(
        tuple(_strings(value, _NODE_INPUT)),
        tuple(_strings(value, _NODE_OUTPUT)),
        "".join(_strings(value, _NODE_NAME)),
        "".join(_strings(value, _NODE_OP)),
        raw,
    )


def _strings(message: memoryview, wanted: int) -> list[str]:
    return [bytes(value).decode() for field, value, _ in fields(message) if field == wanted]


def _tensor(name: str, value: Floats) -> bytes:
    dims = b"".join(number(_TENSOR_DIMS, size) for size in value.shape)
    data = np.ascontiguousarray(value, "<f4").tobytes()
    return (
        dims
        + number(_TENSOR_TYPE, _FLOAT)
        + content(_TENSOR_NAME, name.encode())
        + content(_TENSOR_DATA, data)
    )


def _value(name: str, rank: int | None = None) -> bytes:
    """A tensor of floats of any size; of that many dimensions, where they are known."""
    shape = b"" if rank is None else content(2, content(1, b"") * rank)
    kind = content(1, number(1, _FLOAT) + shape)
    return content(_VALUE_NAME, name.encode()) + content(_VALUE_TYPE, kind)
