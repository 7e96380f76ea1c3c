"""Curves over offered load, a panel a figure, a line a policy, as SVG that needs no library.

Knows: axes, lines, a legend. Does not know: what is plotted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, GAP, EDGE = 300, 200, 70, 50
COLOURS = ("#1b6ca8", "#c8553d", "#588b3a", "#8a6bb1", "#777777")
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """One figure: a title, the greatest value shown, and a curve for each name."""

    title: str
    most: float
    curves: Mapping[str, Points]
    bar: float | None = None
    """A line across, where there is a target."""


def svg(title: str, panels: Sequence[Panel], across: str) -> str:
    """All panels side by side over one legend; ``across`` names the horizontal axis."""
    width = EDGE + len(panels) * (WIDTH + GAP)
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 150}" '
            'font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{width}" height="{HEIGHT + 150}" fill="white"/>',
        f'<text x="{EDGE}" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, names, EDGE + place * (WIDTH + GAP), across)
    for place, name in enumerate(names):
        x, y = EDGE + place * 150, HEIGHT + 130
        parts.append(f'<rect x="{x}" y="{y - 9}" width="18" height="4" fill="{_colour(place)}"/>')
        parts.append(f'<text x="{x + 24}" y="{y - 3}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, names: Sequence[str], left: int, across: str) -> list[str]:
    top = 60
    xs = [x for points in panel.curves.values() for x, _ in points]
    furthest = max(xs, default=1.0) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        return left + WIDTH * x / furthest, top + HEIGHT * (1 - min(y, panel.most) / panel.most)

    parts = [
        f'<text x="{left}" y="{top - 12}" font-weight="bold">{escape(panel.title)}</text>',
        f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>',
        (
            f'<text x="{left + WIDTH / 2}" y="{top + HEIGHT + 34}" text-anchor="middle">'
            f"{escape(across)}</text>"
        ),
    ]
    parts += _ticks(panel.most, lambda value: (left - 6, at(0, value)[1] + 4), "end")
    parts += _ticks(furthest, lambda value: (at(value, 0)[0], top + HEIGHT + 16), "middle")
    if panel.bar is not None:
        (x1, y), (x2, _) = at(0, panel.bar), at(furthest, panel.bar)
        parts.append(f'<line x1="{x1}" y1="{y}" x2="{x2}" y2="{y}" stroke="#aaa" '
                     'stroke-dasharray="4 3"/>')  # fmt: skip
    for name, points in panel.curves.items():
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))
        colour = _colour(names.index(name))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return parts


def _ticks(most: float, where: Callable[[float], tuple[float, float]], anchor: str) -> list[str]:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = where(most * share)
        label = f"{most * share:g}"
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{label}</text>')
    return parts


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]
