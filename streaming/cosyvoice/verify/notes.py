"""What the engine notes while it loads and speaks, said as facts instead of as lines of JSON.

Knows: the form of a note. Does not know: what any note means.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import TextIO

from streaming.cosyvoice.verify.report import Report

_NOT_SHOWN = frozenset({"event", "level", "traceback"})


class Notes(io.TextIOBase):
    """Stands in for standard error; lines that are no notes, and tracebacks, go on to it."""

    def __init__(self, report: Report, errors: TextIO) -> None:
        self._report = report
        self._errors = errors
        self._begun = ""

    def write(self, text: str) -> int:
        """Take whole lines as they become complete."""
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self._take(line)
        return len(text)

    def _take(self, line: str) -> None:
        try:
            fields = json.loads(line)
            event = fields["event"].replace("_", " ")
        except (ValueError, TypeError, KeyError, AttributeError):  # a library's own words
            print(line, file=self._errors)
            return
        values = {name: value for name, value in fields.items() if name not in _NOT_SHOWN}
        self._report.fact(event, _said(values))
        if "traceback" in fields:
            print(fields["traceback"], file=self._errors)


def _said(values: Mapping[str, object]) -> str:
    """One value says itself; several are told by their names."""
    if len(values) == 1:
        return str(next(iter(values.values())))
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())
