import json
from itertools import pairwise

from streaming.engine import trace as module
from streaming.engine.trace import Trace
from streaming.runners.base import Copied


def events(path):
    return json.loads(path.read_text(encoding="utf-8"))


def steps(path):
    return [each for each in events(path) if each["ph"] == "X"]


def test_each_step_is_an_event_with_its_contexts(tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace(path, ["llm", "flow"])
    trace.step("flow", 1.0, 1.25, [3, 5], 96.0)
    trace.close()
    *names, step = events(path)
    assert [each["args"]["name"] for each in names] == ["engine", "llm", "flow"]
    assert [each["tid"] for each in names[1:]] == [1, 2]
    assert (step["ts"], step["dur"], step["pid"], step["tid"]) == (1_000_000, 250_000, 1, 2)
    assert step["args"] == {"contexts": [3, 5], "units": 96.0}


def test_it_is_whole_whenever_it_was_flushed_since_the_process_may_end_then(tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace(path, ["llm"])
    assert steps(path) == []
    for count in range(1, 4):
        trace.step("llm", count, count + 0.5, [1], 1.0)
        trace.flush()
        assert len(steps(path)) == count
    trace.close()
    assert len(steps(path)) == 3


def test_what_was_launched_behind_another_begins_when_that_has_ended(tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace(path, ["llm", "flow"])
    for number in range(20):
        trace.step("llm", number - 1.0, number + 1.0, [1], 1.0)
        trace.step("flow", number, number + 0.75, [1], 1.0)
    trace.close()
    for line, busy in ((1, 21.0), (2, 15.0)):
        of_line = [each for each in steps(path) if each["tid"] == line]
        assert all(one["ts"] + one["dur"] <= next_["ts"] for one, next_ in pairwise(of_line))
        assert sum(each["dur"] for each in of_line) == busy * 1e6


class SmallDisk:
    """A file on a disk that is full once it has so many bytes."""

    def __init__(self, file, size):
        self.file, self.size = file, size
        self.seek, self.truncate, self.close = file.seek, file.truncate, file.close

    def write(self, data):
        room = self.size - self.file.tell()
        if room <= 0:
            raise OSError(28, "No space left on device")
        return self.file.write(data[:room])


def test_a_full_disk_ends_the_trace_alone_and_what_is_there_is_whole(tmp_path, monkeypatch, capfd):
    path = tmp_path / "trace.json"
    trace = Trace(path, ["llm"])
    monkeypatch.setattr(trace, "_file", SmallDisk(trace._file, 600))
    for _ in range(8):
        trace.step("llm", 0.0, 1.0, [1], 1.0)
        trace.flush()
    trace.close()
    assert 1 < len(steps(path)) < 8
    assert path.stat().st_size <= 600
    assert capfd.readouterr().err.count("No space left on device") == 1


def test_nor_does_one_that_will_not_even_be_mended(tmp_path, monkeypatch, capfd):
    trace = Trace(tmp_path / "trace.json", ["llm"])
    monkeypatch.setattr(trace, "_file", SmallDisk(trace._file, 0))
    for _ in range(3):
        trace.step("llm", 0.0, 1.0, [1], 1.0)
        trace.flush()
    trace.close()
    assert capfd.readouterr().err.count("No space left on device") == 1


def test_a_trace_that_was_forgotten_ends(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(module, "MOST_BYTES", 2_000)
    path = tmp_path / "trace.json"
    trace = Trace(path, ["llm"])
    for _ in range(1_000):
        trace.step("llm", 0.0, 1.0, [1], 1.0)
    trace.close()
    assert path.stat().st_size < 2_200
    assert len(events(path)) > 5
    assert capfd.readouterr().err.count("trace_full") == 1


def test_copies_have_lines_of_their_own(tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace(path, ["flow"])
    trace.step("flow", 1.0, 2.0, [3], 50.0)
    trace.copied(
        [
            Copied("flow", "to the host", 1.5, 1.75, (3,), 4096),
            Copied("samples", "to the host", 1.5, 1.625, (3, 5), 960),
            Copied("flow", "to the device", 3.0, 3.25, ("a voice",), 8192),
        ]
    )
    trace.close()
    lines = {each["tid"]: each["args"]["name"] for each in events(path) if each["ph"] == "M"}
    assert [lines[each["tid"]] for each in steps(path)] == [
        "flow", "copies, flow", "copies, samples", "copies, flow",
    ]  # fmt: skip
    out, _, back = steps(path)[1:]
    assert (out["name"], out["ts"], out["dur"]) == ("to the host", 1_500_000, 250_000)
    assert out["args"] == {"of": [3], "bytes": 4096}
    assert (back["name"], back["args"]["of"]) == ("to the device", ["a voice"])
