"""Every step as an event that Perfetto and chrome://tracing show: a line a stage, contexts inside.

The format is the Trace Event Format's array. Knows: how an event is written. Does not know: what a
step does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from streaming.engine.notes import note

MOST_BYTES = 1 << 28
"""Then the trace ends: a file must not fill the disk because it was forgotten."""

_BEGIN, _END = b"[", b"\n]\n"


class Trace:
    """One file, written anew; whole after each ``flush``, since the process may end at any time."""

    def __init__(self, path: Path, stages: Sequence[str]) -> None:
        self._file = path.open("wb", buffering=0)
        self._lines = {name: number for number, name in enumerate(stages, start=1)}
        self._busy_until_s = dict.fromkeys(stages, float("-inf"))
        self._left = MOST_BYTES
        self._file.write(_BEGIN)
        self._end = len(_BEGIN)
        self._waiting: list[str] = []
        self._name("process_name", 0, "engine")
        for name, line in self._lines.items():
            self._name("thread_name", line, name)
        self.flush()

    def step(
        self, stage: str, began_s: float, ended_s: float, contexts: Sequence[int], units: float
    ) -> None:
        """A step of the stage served these contexts, from launch to its end.

        One that was launched behind another of its stage was computed after that, so events of a
        line never overlap: viewers cannot draw those that do.
        """
        began_s = min(max(began_s, self._busy_until_s[stage]), ended_s)
        self._busy_until_s[stage] = ended_s
        began_us = round(began_s * 1e6)
        self._write(
            {
                "ph": "X",
                "pid": 1,
                "tid": self._lines[stage],
                "name": f"{stage} x{len(contexts)}",
                "ts": began_us,
                "dur": round(ended_s * 1e6) - began_us,
                "args": {"contexts": list(contexts), "units": units},
            }
        )

    def close(self) -> None:
        """No more comes."""
        self.flush()
        self._file.close()

    def flush(self) -> None:
        """What was told is in the file, which is valid as it is."""
        if not self._waiting:
            return
        before = "\n" if self._end == len(_BEGIN) else ",\n"
        events = (before + ",\n".join(self._waiting)).encode()
        self._waiting = []
        try:
            self._file.seek(self._end)
            self._file.write(events + _END)
        except OSError as error:  # a full disk ends the trace, not the engine
            self._left = 0
            note("trace_ended", level="warning", why=str(error))
        self._end += len(events)

    def _name(self, what: str, line: int, name: str) -> None:
        self._write({"ph": "M", "pid": 1, "tid": line, "name": what, "args": {"name": name}})

    def _write(self, event: dict[str, object]) -> None:
        if self._left <= 0:
            return
        line = json.dumps(event, separators=(",", ":"))
        self._left -= len(line) + 2
        self._waiting.append(line)
        if self._left <= 0:
            note("trace_full", bytes=MOST_BYTES)
