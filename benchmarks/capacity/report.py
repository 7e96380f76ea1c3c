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


def table(rows: Iterable[Row]) -> str:
    """A Markdown table; times in ms."""
    lines = [HEADINGS, tuple("---" for _ in HEADINGS), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


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
