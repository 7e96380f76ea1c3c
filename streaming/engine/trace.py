"""Every step as an event that Perfetto and chrome://tracing show: a line a stage, contexts inside.

What is copied between device and host has lines of its own. The format is the Trace Event Format's
array. Knows: how an event is written. Does not know: what a step does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from streaming.engine.notes import note
from streaming.runners.base import Copied

MOST_BYTES = 1 << 28
"""Then the trace ends: a file must not fill the disk because it was forgotten."""

_BEGIN, _END = b"[", b"\n]\n"


class Trace:
    """One file, written anew; whole after each ``flush``, since the process may end at any time."""

    def __init__(self, path: Path, stages: Sequence[str]) -> None:
        self._file = path.open("wb", buffering=0)
        self._lines: dict[str, int] = {}
        self._busy_until_s: dict[str, float] = {}
        self._left = MOST_BYTES
        self._file.write(_BEGIN)
        self._end = len(_BEGIN)
        self._waiting: list[str] = []
        self._name("process_name", 0, "engine")
        for stage in stages:
            self._line(stage)
        self.flush()

    def step(
        self, stage: str, began_s: float, ended_s: float, contexts: Sequence[int], units: float
    ) -> None:
        """A step of the stage served these contexts, from launch to its end."""
        about = {"contexts": list(contexts), "units": units}
        self._event(stage, f"{stage} x{len(contexts)}", (began_s, ended_s), about)

    def copied(self, copies: Iterable[Copied]) -> None:
        """Those went from host to device, or back."""
        for copy in copies:
            about = {"of": list(copy.owners), "bytes": copy.bytes}
            self._event(f"copies, {copy.line}", copy.way, (copy.began_s, copy.ended_s), about)

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
            self._put(events + _END)
        except OSError as error:  # a full disk ends the trace, not the engine
            self._left = 0
            note("trace_ended", level="warning", why=str(error))
            with suppress(OSError):  # then it stays as it is
                self._file.truncate(self._end)
                self._put(_END)
            return
        self._end += len(events)

    def _put(self, data: bytes) -> None:
        """In place of the end; a disk that is nearly full takes a part first."""
        self._file.seek(self._end)
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def _line(self, name: str) -> int:
        if name not in self._lines:
            self._lines[name] = len(self._lines) + 1
            self._busy_until_s[name] = float("-inf")
            self._name("thread_name", self._lines[name], name)
        return self._lines[name]

    def _event(
        self, line: str, name: str, span_s: tuple[float, float], about: dict[str, object]
    ) -> None:
        """What was launched behind another of its line was computed after that.

        So events of a line never overlap: viewers cannot draw those that do.
        """
        began_s, ended_s = span_s
        number = self._line(line)
        began_s = min(max(began_s, self._busy_until_s[line]), ended_s)
        self._busy_until_s[line] = ended_s
        began_us = round(began_s * 1e6)
        self._write(
            {
                "ph": "X",
                "pid": 1,
                "tid": number,
                "name": name,
                "ts": began_us,
                "dur": round(ended_s * 1e6) - began_us,
                "args": about,
            }
        )

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
