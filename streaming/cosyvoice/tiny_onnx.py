"""Random stand-ins for a checkpoint's two ONNX files, with the official inputs and outputs.

The speech tokenizer really is one in small: two strided convolutions over the log-mel, eight
values of three levels each, and so a token in 0..6560 for every 40 ms, that changes with what
is heard. The speaker network averages what it makes of the filterbank over time.
Knows: names, shapes, rates. Does not know: files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from streaming.cosyvoice.onnx_graph import Node, Value, model
from streaming.cosyvoice.sizes import SPEAKER_SIZE, SPEECH_TOKENS

_BANDS = 128
_LEVELS, _VALUES = 3, 8
_WIDTH = 16
_FILTERS = 80


def speech_tokenizer(rng: np.random.Generator) -> bytes:
    """``feats`` (1, 128, T) at 100 Hz and ``feats_length`` (1,) to ``indices`` (1, T/4), up."""
    assert _LEVELS**_VALUES == SPEECH_TOKENS
    strided = {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}
    nodes = [
        Node("Conv", ["feats", "first"], "half", strided),
        Node("Tanh", ["half"], "bent"),
        Node("Conv", ["bent", "second"], "quarter", strided),
        Node("Tanh", ["quarter"], "bounded"),
        Node("Round", ["bounded"], "levels"),
        Node("Add", ["levels", "one"], "digits"),
        Node("Transpose", ["digits"], "by_time", {"perm": [0, 2, 1]}),
        Node("MatMul", ["by_time", "places"], "numbers"),
        Node("Cast", ["numbers"], "all", {"to": 6}),
        Node("Squeeze", ["all", "last_axis"], "row"),
        Node("Cast", ["feats_length"], "length", {"to": 7}),
        Node("Add", ["length", "three"], "length_up"),
        Node("Div", ["length_up", "four"], "tokens"),
        Node("Slice", ["row", "zero", "tokens", "time_axis"], "indices"),
    ]
    constants: dict[str, npt.NDArray[Any]] = {
        "first": _filters(rng, _WIDTH, _BANDS),
        "second": 3 * _filters(rng, _VALUES, _WIDTH),
        "one": np.ones(1, dtype=np.float32),
        "places": (_LEVELS ** np.arange(_VALUES, dtype=np.float32)).reshape(_VALUES, 1),
        "last_axis": _whole(2),
        "three": _whole(3),
        "four": _whole(4),
        "zero": _whole(0),
        "time_axis": _whole(1),
    }
    inputs = [
        Value("feats", "float32", (1, _BANDS, "T")),
        Value("feats_length", "int32", (1,)),
    ]
    return model(inputs, [Value("indices", "int32", (1, "tokens"))], nodes, constants)


def campplus(rng: np.random.Generator) -> bytes:
    """``input`` (1, T, 80), a filterbank without its mean, to ``output`` (1, 192)."""
    nodes = [
        Node("MatMul", ["input", "inward"], "narrow"),
        Node("Tanh", ["narrow"], "bent"),
        Node("Mul", ["bent", "bent"], "squared"),
        Node("ReduceMean", ["squared"], "mean", {"axes": [1], "keepdims": 0}),
        Node("MatMul", ["mean", "outward"], "output"),
    ]
    constants = {
        "inward": _matrix(rng, _FILTERS, _WIDTH),
        "outward": _matrix(rng, _WIDTH, SPEAKER_SIZE),
    }
    inputs = [Value("input", "float32", (1, "T", _FILTERS))]
    return model(inputs, [Value("output", "float32", (1, SPEAKER_SIZE))], nodes, constants)


def _whole(number: int) -> npt.NDArray[np.int64]:
    return np.array([number], dtype=np.int64)


def _filters(rng: np.random.Generator, outputs: int, inputs: int) -> npt.NDArray[np.float32]:
    draw = rng.standard_normal((outputs, inputs, 3), dtype=np.float32)
    return draw / np.float32(np.sqrt(3 * inputs))


def _matrix(rng: np.random.Generator, inputs: int, outputs: int) -> npt.NDArray[np.float32]:
    draw = rng.standard_normal((inputs, outputs), dtype=np.float32)
    return draw / np.float32(np.sqrt(inputs))
