"""Parts of a model, run by the library that runs the whole."""

import numpy as np
import onnxruntime
import pytest

from streaming.protobuf import content, number
from streaming.runners.mandarin import graph
from streaming.runners.mandarin.graph import Graph


def node(op, inputs, output):
    fields = [content(1, name.encode()) for name in inputs]
    fields += [content(2, output.encode()), content(3, f"/{op}".encode())]
    return content(1, b"".join([*fields, content(4, op.encode())]))


def whole():
    """``out = (x + w) * y``, where ``w`` is a weight."""
    body = [
        node("Add", ["x", "w"], "sum"),
        node("Mul", ["sum", "y"], "out"),
        content(2, b"g"),
        content(5, graph._tensor("w", np.array([10.0], np.float32))),
        content(11, graph._value("x", 1)),
        content(11, graph._value("y", 1)),
        content(12, graph._value("out", 1)),
    ]
    opset = content(8, number(2, 17))
    return number(1, 8) + opset + content(7, b"".join(body))


def run(model, **inputs):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    assert {each.name for each in session.get_inputs()} == inputs.keys()
    feed = {name: np.array(value, np.float32) for name, value in inputs.items()}
    return session.run(None, feed)[0].tolist()


def test_the_whole_runs():
    assert run(whole(), x=[1], y=[2]) == [22.0]


def test_the_first_half_needs_no_more_than_its_own_inputs():
    assert run(Graph(whole()).part(["sum"]), x=[1]) == [11.0]


def test_the_second_half_takes_what_the_first_hands_over():
    assert run(Graph(whole()).part(["out"], given={"sum": 1}), sum=[11, 12], y=[2, 3]) == [22, 36]


def test_what_was_computed_can_be_given_once_for_all():
    constants = {"sum": np.array([5.0], np.float32)}
    assert run(Graph(whole()).part(["out"], constants=constants), y=[2]) == [10.0]


def test_nodes_are_found_by_kind_and_place():
    assert Graph(whole()).outputs_of("Mul", "/") == ["out"]
    assert Graph(whole()).outputs_of("Mul", "/elsewhere") == []


@pytest.mark.parametrize("junk", [b"", b"\x07", b"\xff\xff", b"\x08"])
def test_what_is_no_model_is_refused(junk):
    with pytest.raises(ValueError, match="no ONNX model"):
        Graph(junk)
