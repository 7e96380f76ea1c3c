import json

from streaming.engine import trace as module
from streaming.engine.trace import Trace


def events(path):
    """The file as Perfetto reads it: the array's end may be missing."""
    return json.loads(path.read_text(encoding="utf-8").rstrip().rstrip(",") + "]")


def test_each_step_is_an_event_with_its_contexts(tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace(path, ["llm", "flow"])
    trace.step("flow", 1.0, 1.25, [3, 5], 96.0)
    trace.close()
    names, step = events(path)[:2], events(path)[2]
    assert [each["args"]["name"] for each in names] == ["llm", "flow"]
    assert (step["ts"], step["dur"], step["tid"]) == (1_000_000, 250_000, 2)
    assert step["args"] == {"contexts": [3, 5], "units": 96.0}


def test_a_trace_that_was_forgotten_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 2_000)
    path = tmp_path / "trace.json"
    trace = Trace(path, ["llm"])
    for _ in range(1_000):
        trace.step("llm", 0.0, 1.0, [1], 1.0)
    trace.close()
    assert path.stat().st_size < 2_200
    assert len(events(path)) > 5
