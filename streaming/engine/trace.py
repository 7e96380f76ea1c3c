"""Every step as an event that Perfetto and chrome://tracing show: a line a stage, contexts inside.

The format is the Trace Event Format's array, which may lack its end. Knows: how an event is
written. Does not know: what a step does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from streaming.engine.notes import note

MOST_BYTES = 1 << 28
"""Then the trace ends: a file must not fill the disk because it was forgotten."""


class Trace:
    """One file, written anew."""

    def __init__(self, path: Path, stages: Sequence[str]) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1 << 16)
        self._lines = {name: number for number, name in enumerate(stages, start=1)}
        self._left = MOST_BYTES
        self._file.write("[\n")
        for name, line in self._lines.items():
            self._write({"ph": "M", "pid": 1, "tid": line, "name": "thread_name",
                         "args": {"name": name}})  # fmt: skip

    def step(
        self, stage: str, began_s: float, ended_s: float, contexts: Sequence[int], units: float
    ) -> None:
        """A step of the stage served these contexts, from launch to landing."""
        self._write(
            {
                "ph": "X",
                "pid": 1,
                "tid": self._lines[stage],
                "name": f"{stage} x{len(contexts)}",
                "ts": round(began_s * 1e6),
                "dur": round((ended_s - began_s) * 1e6),
                "args": {"contexts": list(contexts), "units": units},
            }
        )

    def close(self) -> None:
        """No more comes."""
        self._file.close()

    def flush(self) -> None:
        """What was written is in the file, though the process may die."""
        if self._left > 0:
            self._file.flush()

    def _write(self, event: dict[str, object]) -> None:
        if self._left <= 0:
            return
        line = json.dumps(event, separators=(",", ":")) + ",\n"
        self._left -= len(line)
        self._file.write(line)
        if self._left <= 0:
            self._file.close()
            note("trace_full", bytes=MOST_BYTES)
