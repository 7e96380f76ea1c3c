"""A panel of a picture: lines over an axis, as SVG elements. Pure.

Knows: points, pixels. Does not know: what is drawn, where the panel stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 250, 150
"""Of the plot itself."""

INK, FAINT = "#24292f", "#d0d7de"

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """Values from the first tick to the last."""

    ticks: tuple[float, ...]
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between both ends, 0 to 1; what lies outside stays at the end."""
        low, high, at = (self._scaled(each) for each in (self.ticks[0], self.ticks[-1], value))
        return min(max((at - low) / (high - low), 0.0), 1.0)

    def _scaled(self, value: float) -> float:
        return math.log(max(value, self.ticks[0])) if self.log else value


@dataclass(frozen=True)
class Series:
    """One line."""

    colour: str
    points: tuple[Point, ...]
    stroke: float = 1.5


@dataclass(frozen=True)
class Panel:
    """One plot; ``limit``: a value to be marked."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    limit: float | None = None

    def draw(self) -> Iterator[str]:
        """Its elements; the plot's upper left corner is 0, 0."""
        yield text(0, -10, self.title, weight="bold")
        for tick in self.y.ticks:
            height = self._y(tick)
            yield line((0, height), (WIDTH, height), FAINT)
            yield text(-6, height + 4, f"{tick:g}", anchor="end")
        for tick in self.x.ticks:
            yield text(WIDTH * self.x.share(tick), HEIGHT + 16, f"{tick:g}", anchor="middle")
        if self.limit is not None:
            height = self._y(self.limit)
            yield line((0, height), (WIDTH, height), INK, dash="4 3")
        for series in self.series:
            yield from self._draw(series)

    def _draw(self, series: Series) -> Iterator[str]:
        places = [(WIDTH * self.x.share(x), self._y(y)) for x, y in series.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield (
            f'<polyline points="{path}" fill="none" stroke="{series.colour}" '
            f'stroke-width="{series.stroke:g}"/>'
        )
        for x, y in places:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{series.colour}"/>'

    def _y(self, value: float) -> float:
        return HEIGHT * (1.0 - self.y.share(value))


def line(start: Point, end: Point, colour: str, *, width: float = 1, dash: str = "") -> str:
    """A straight one."""
    (x1, y1), (x2, y2) = start, end
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashes}/>'
    )


def text(x: float, y: float, words: str, *, anchor: str = "start", weight: str = "normal") -> str:
    """A line of it."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{INK}">{escape(words)}</text>'
    )


def steps(most: float, count: int = 4) -> tuple[float, ...]:
    """Round ticks from 0 to at least ``most``."""
    rough = max(most, 1e-9) / count
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough)
    return tuple(step * index for index in range(math.ceil(most / step) + 1))


def svg(width: float, height: float, elements: Sequence[str]) -> str:
    """The whole picture, on white."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="sans-serif" font-size="12">'
    )
    paper = f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>'
    return "\n".join((head, paper, *elements, "</svg>\n"))
