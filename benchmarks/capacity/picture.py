"""Pictures of a comparison: what listeners meet against the load, a line a policy.

Knows: rows. Does not know: how they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.capacity.chart import HEIGHT, WIDTH, Axis, Panel, Series, line, steps, svg, text
from benchmarks.capacity.simulate import Row

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Told apart by all eyes; the first is ours."""

TIMES_MS = (20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
PERCENT = (0.0, 25.0, 50.0, 75.0, 100.0)
TARGET_MS = 200.0

COLUMNS = 3
LEFT, TOP, GAP_X, GAP_Y = 56, 100, 60, 62

Value = Callable[[Row], float | None]


def _refused_percent(row: Row) -> float:
    asked = row.admitted + row.refused
    return 100 * row.refused / asked if asked else 0.0


PANELS: tuple[tuple[str, Axis, Value, float | None], ...] = (
    *(
        (
            f"first packet {share}, ms",
            Axis(TIMES_MS, log=True),
            lambda row, share=share: row.first_packet_ms[share],
            TARGET_MS,
        )
        for share in ("p50", "p95", "p99")
    ),
    ("C100, %", Axis(PERCENT), lambda row: 100 * row.c100, None),
    ("device use, %", Axis(PERCENT), lambda row: 100 * row.device_use, None),
    ("refused, %", Axis(PERCENT), _refused_percent, None),
)


def write(path: Path, rows: Sequence[Row]) -> list[Path]:
    """One file a device, named after it where there are several; returns them."""
    devices = list(dict.fromkeys(row.device for row in rows))
    paths = [path] if len(devices) == 1 else [_beside(path, device) for device in devices]
    for file, device in zip(paths, devices, strict=True):
        file.write_text(picture([row for row in rows if row.device == device]), encoding="utf-8")
    return paths


def _beside(path: Path, device: str) -> Path:
    return path.with_stem(f"{path.stem}-{device.split(maxsplit=1)[0].lower()}")


def picture(rows: Sequence[Row]) -> str:
    """All panels of one device."""
    lines = -(-len(PANELS) // COLUMNS)
    width = LEFT + COLUMNS * (WIDTH + GAP_X)
    height = TOP + lines * (HEIGHT + GAP_Y) - GAP_Y / 2
    return svg(width, height, [*_head(rows), *_panels(rows)])


def _head(rows: Sequence[Row]) -> Iterator[str]:
    yield text(LEFT, 28, f"{rows[0].device}, simulated", weight="bold")
    yield text(LEFT, 46, "across: contexts that would speak at once if all were served")
    for index, policy in enumerate(_policies(rows)):
        left = LEFT + 150 * index
        yield line((left, 62), (left + 24, 62), COLOURS[index], width=_stroke(index))
        yield text(left + 30, 66, policy)


def _panels(rows: Sequence[Row]) -> Iterator[str]:
    across = Axis(steps(max(row.offered_contexts for row in rows)))
    for index, (title, axis, value, limit) in enumerate(PANELS):
        down, right = divmod(index, COLUMNS)
        x, y = LEFT + right * (WIDTH + GAP_X), TOP + down * (HEIGHT + GAP_Y)
        panel = Panel(title, across, axis, tuple(_series(rows, value)), limit)
        yield f'<g transform="translate({x},{y})">'
        yield from panel.draw()
        yield "</g>"


def _series(rows: Sequence[Row], value: Value) -> Iterator[Series]:
    for index, policy in reversed(list(enumerate(_policies(rows)))):  # ours above the others
        points = (
            (row.offered_contexts, found)
            for row in rows
            if row.policy == policy and (found := value(row)) is not None
        )
        yield Series(COLOURS[index], tuple(sorted(points)), _stroke(index))


def _policies(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.policy for row in rows))


def _stroke(index: int) -> float:
    return 1.5 if index else 3.0
