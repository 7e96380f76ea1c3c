"""Pictures of a comparison: what listeners meet against the load, a line a policy.

Knows: rows. Does not know: how they were found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.capacity.chart import (
    HEIGHT,
    WIDTH,
    Axis,
    Panel,
    Series,
    line,
    steps,
    svg,
    text,
)
from benchmarks.capacity.device import NOT_MEASURED
from benchmarks.capacity.simulate import Row

TIMES_MS = (20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0)
PERCENT = (0.0, 25.0, 50.0, 75.0, 100.0)
NEARLY_ALL = (98.0, 98.5, 99.0, 99.5, 100.0)
TARGET_MS = 200.0

COLUMNS = 3
LEFT, RIGHT, TOP, BOTTOM = 58, 26, 138, 54
GAP_X, GAP_Y = 58, 82
BADGE = 176
ACROSS = "contexts offered at once"

Value = Callable[[Row], float | None]


def _first_packet(share: str) -> Value:
    return lambda row: row.first_packet_ms[share]


def _c100(row: Row) -> float:
    return 100 * row.c100


def _refused(row: Row) -> float:
    asked = row.admitted + row.refused
    return 100 * row.refused / asked if asked else 0.0


def write(path: Path, rows: Sequence[Row], doors: Mapping[str, int]) -> list[Path]:
    """One file a device, named after it where there are several; returns them."""
    devices = list(dict.fromkeys(row.device for row in rows))
    written = []
    for device in devices:
        short = re.sub(r"[^a-z0-9]+", "-", device.split(" (")[0].lower())
        target = path if len(devices) == 1 else path.with_stem(f"{path.stem}-{short}")
        mine = [row for row in rows if row.device == device]
        target.write_text(picture(mine, doors.get(device)), encoding="utf-8")
        written.append(target)
    return written


def picture(rows: Sequence[Row], door: int | None = None) -> str:
    """All panels of one device; ``door``: how many it lets in, where there is one."""
    panels = list(_panels(rows, door))
    lines = -(-len(panels) // COLUMNS)
    width = LEFT + COLUMNS * (WIDTH + GAP_X) - GAP_X + RIGHT
    height = TOP + lines * (HEIGHT + GAP_Y) - GAP_Y + BOTTOM
    elements = [*_head(rows[0].device, width), *_names(_policies(rows)), *_marks(door)]
    for index, panel in enumerate(panels):
        down, right = divmod(index, COLUMNS)
        x, y = LEFT + right * (WIDTH + GAP_X), TOP + down * (HEIGHT + GAP_Y)
        elements += [f'<g transform="translate({x},{y})">', *panel.draw(), "</g>"]
    return svg(width, height, elements)


def _head(device: str, width: float) -> Iterator[str]:
    yield text(LEFT, 34, f"{device.split(' (', maxsplit=1)[0]}, simulated", look="head")
    if NOT_MEASURED in device:
        left = width - RIGHT - BADGE
        yield f'<rect x="{left}" y="18" width="{BADGE}" height="24" rx="12" class="badge"/>'
        words = f"estimated, {NOT_MEASURED}"
        yield text(left + BADGE / 2, 34, words, look="warning", anchor="middle")


def _names(policies: Sequence[str]) -> Iterator[str]:
    for index, policy in enumerate(policies):
        left, look = LEFT + 150 * index, Series(index, ()).look
        yield line((left, 64), (left + 26, 64), f"line {look}")
        yield f'<circle cx="{left + 13}" cy="64" r="2.8" class="dot {look}"/>'
        yield text(left + 33, 68, policy)


def _marks(door: int | None) -> Iterator[str]:
    """What the broken lines are."""
    yield line((LEFT, 86), (LEFT + 26, 86), "mark")
    yield text(LEFT + 33, 90, f"a first packet in {TARGET_MS:g} ms", look="quiet")
    if door is not None:
        left = LEFT + 300
        yield line((left + 13, 79), (left + 13, 94), "mark")
        yield text(left + 33, 90, f"the door lets {door} contexts speak at once", look="quiet")


def _panels(rows: Sequence[Row], door: int | None) -> Iterator[Panel]:
    across = Axis(steps(max(row.offered_contexts for row in rows)))
    times = Axis(TIMES_MS, log=True)
    share_of_good = Axis(NEARLY_ALL if min(map(_c100, rows)) >= NEARLY_ALL[0] else PERCENT)
    for share in ("p50", "p95", "p99"):
        lines = _series(rows, _first_packet(share))
        yield Panel(f"first packet {share}, ms", across, times, lines, ACROSS, TARGET_MS, door)
    for title, axis, value in (
        ("C100, %", share_of_good, _c100),
        ("device use, %", Axis(PERCENT), lambda row: 100 * row.device_use),
        ("refused, %", Axis(PERCENT), _refused),
    ):
        yield Panel(title, across, axis, _series(rows, value), ACROSS, edge=door)


def _series(rows: Sequence[Row], value: Value) -> tuple[Series, ...]:
    found = []
    for index, policy in reversed(list(enumerate(_policies(rows)))):  # ours above the others
        points = (
            (row.offered_contexts, at)
            for row in rows
            if row.policy == policy and (at := value(row)) is not None
        )
        found.append(Series(index, tuple(sorted(points))))
    return tuple(found)


def _policies(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.policy for row in rows))
