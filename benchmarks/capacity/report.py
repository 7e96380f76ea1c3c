"""A run's rows for people and for programs. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.capacity.simulate import Row

HEADINGS = (
    "device", "policy", "offered", "sessions", "admitted", "refused",
    "first packet p50 / p95 / p99", "C100", "device use",
)  # fmt: skip


def as_json(rows: Sequence[Row]) -> str:
    """One line; ``sessions`` is there where they were conversations."""
    return json.dumps({"rows": [_known(row) for row in rows]})


def _known(row: Row) -> dict[str, Any]:
    known = asdict(row)
    if row.sessions is None:
        del known["sessions"]
    return known


def head() -> str:
    """The first two lines of a Markdown table."""
    return f"{_line(HEADINGS)}\n{_line('---' for _ in HEADINGS)}"


def line(row: Row) -> str:
    """The row's line in it; times in ms."""
    return _line(_cells(row))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row) -> tuple[str, ...]:
    first = row.first_packet_ms.values()
    return (
        row.device,
        row.policy,
        f"{row.offered_contexts:g}",
        "" if row.sessions is None else str(row.sessions),
        str(row.admitted),
        str(row.refused),
        " / ".join("-" if value is None else f"{value:.0f}" for value in first),
        f"{100 * row.c100:.2f} %",
        f"{100 * row.device_use:.0f} %",
    )
