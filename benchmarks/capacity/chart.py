"""A panel of a picture: lines over an axis, as SVG elements. Pure.

Knows: points, pixels, what light and dark paper want. Does not know: what is drawn, where the panel
stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 250, 150
"""Of the plot itself."""

LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#6a5acd", "#7f7f7f")
DARK = ("#58a6ff", "#ff9145", "#2fcf9f", "#f0a5cf", "#e3c04b", "#b3a7ff", "#b0b0b0")
"""Lines, told apart by all eyes; the first is ours."""

DASHES = ("", "", "5 4", "", "2 3", "8 3", "1 3")
"""So that a line that lies on another does not hide it."""

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
    """One line; ``number`` says how it looks."""

    number: int
    points: tuple[Point, ...]

    @property
    def look(self) -> str:
        """Its class in the picture's style."""
        return f"s{self.number % len(LIGHT)}"


@dataclass(frozen=True)
class Panel:
    """One plot; ``aim`` is a value to stay under, ``edge`` a place on the way across."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    across: str = ""
    aim: float | None = None
    edge: float | None = None

    def draw(self) -> Iterator[str]:
        """Its elements; the plot's upper left corner is 0, 0."""
        yield text(0, -12, self.title, look="title")
        for tick in self.y.ticks:
            height = self._y(tick)
            yield line((0, height), (WIDTH, height), "grid")
            yield text(-7, height + 4, f"{tick:g}", look="quiet", anchor="end")
        for tick in self.x.ticks:
            place = WIDTH * self.x.share(tick)
            yield text(place, HEIGHT + 17, f"{tick:g}", look="quiet", anchor="middle")
        yield text(WIDTH / 2, HEIGHT + 34, self.across, look="quiet", anchor="middle")
        yield from self._marks()
        for series in self.series:
            yield from self._draw(series)

    def _marks(self) -> Iterator[str]:
        if self.edge is not None:
            place = WIDTH * self.x.share(self.edge)
            yield line((place, 0), (place, HEIGHT), "mark")
        if self.aim is not None:
            height = self._y(self.aim)
            yield line((0, height), (WIDTH, height), "mark")

    def _draw(self, series: Series) -> Iterator[str]:
        places = [(WIDTH * self.x.share(x), self._y(y)) for x, y in series.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline points="{path}" class="line {series.look}"/>'
        for x, y in places:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.8" class="dot {series.look}"/>'

    def _y(self, value: float) -> float:
        return HEIGHT * (1.0 - self.y.share(value))


def line(start: Point, end: Point, look: str) -> str:
    """A straight one."""
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{look}"/>'


def text(x: float, y: float, words: str, *, look: str = "", anchor: str = "start") -> str:
    """A line of it."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{look}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def steps(most: float, count: int = 4) -> tuple[float, ...]:
    """Round ticks from 0 to at least ``most``."""
    rough = max(most, 1e-9) / count
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough)
    return tuple(step * index for index in range(math.ceil(most / step) + 1))


def svg(width: float, height: float, elements: Sequence[str]) -> str:
    """The whole picture, on paper of its own, dark where the reader's is."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" '
        'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" '
        'font-size="12">'
    )
    paper = (
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="8" '
        'class="paper"/>'
    )
    return "\n".join((head, _style(), paper, *elements, "</svg>\n"))


def _style() -> str:
    shapes = (
        ".title{font-weight:600}.head{font-weight:600;font-size:15px}"
        ".line{fill:none;stroke-width:1.7;stroke-linejoin:round}.line.s0{stroke-width:3}"
        ".mark{stroke-dasharray:3 3}.badge{fill:none}"
    )
    dashes = "".join(
        f".line.s{index}{{stroke-dasharray:{dash}}}" for index, dash in enumerate(DASHES) if dash
    )
    light = _colours("#ffffff", "#24292f", "#57606a", "#d8dee4", "#9a6700", LIGHT)
    dark = _colours("#0d1117", "#e6edf3", "#9198a1", "#30363d", "#d29922", DARK)
    return f"<style>{shapes}{dashes}{light}@media(prefers-color-scheme:dark){{{dark}}}</style>"


def _colours(
    paper: str, ink: str, quiet: str, grid: str, warning: str, lines: Sequence[str]
) -> str:
    return (
        f".paper{{fill:{paper};stroke:{grid}}}text{{fill:{ink}}}"
        f".quiet{{fill:{quiet}}}.grid{{stroke:{grid}}}.mark{{stroke:{quiet}}}"
        f".badge{{stroke:{warning}}}.warning{{fill:{warning}}}"
    ) + "".join(
        f".line.s{index}{{stroke:{colour}}}.dot.s{index}{{fill:{colour}}}"
        for index, colour in enumerate(lines)
    )
