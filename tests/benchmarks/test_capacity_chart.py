"""Panels: where values lie, what is written beside them."""

import xml.etree.ElementTree as ET

import pytest

from benchmarks.capacity.chart import (
    DARK,
    HEIGHT,
    LIGHT,
    WIDTH,
    Axis,
    Panel,
    Series,
    steps,
    svg,
    text,
)
from benchmarks.capacity.picture import picture
from benchmarks.capacity.simulate import Row


def elements(panel):
    return ET.fromstring(svg(400, 300, [*panel.draw()]))


def found(drawn, tag):
    return drawn.findall(f".//{{*}}{tag}")


def test_values_lie_between_the_ends_of_their_axis():
    axis = Axis((0.0, 50.0, 100.0))
    assert [axis.share(value) for value in (-5, 0, 25, 100, 900)] == [0, 0, 0.25, 1, 1]


def test_on_a_logarithmic_axis_equal_factors_are_equal_ways():
    axis = Axis((10.0, 1000.0), log=True)
    assert [axis.share(value) for value in (0, 10, 100, 1000)] == pytest.approx([0, 0, 0.5, 1])


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(4, (0, 1, 2, 3, 4)), (57, (0, 20, 40, 60)), (330, (0, 100, 200, 300, 400))],
)
def test_ticks_are_round_and_reach_over_everything(most, ticks):
    assert steps(most) == pytest.approx(ticks)


def test_a_line_goes_through_its_points():
    line = Series(0, ((0.0, 0.0), (5.0, 50.0), (10.0, 100.0)))
    drawn = elements(Panel("a title", Axis((0.0, 10.0)), Axis((0.0, 100.0)), (line,)))
    (path,) = found(drawn, "polyline")
    assert path.get("points") == f"0.0,{HEIGHT}.0 {WIDTH / 2},{HEIGHT / 2} {WIDTH}.0,0.0"
    assert len(found(drawn, "circle")) == 3


def test_what_matters_on_either_axis_is_marked():
    panel = Panel("a title", Axis((0.0, 10.0)), Axis((0.0, 100.0)), (), aim=50.0, edge=5.0)
    marks = [each for each in found(elements(panel), "line") if each.get("class") == "mark"]
    assert [each.get("x1") for each in marks] == [f"{WIDTH / 2}", "0.0"]
    assert [each.get("y2") for each in marks] == [f"{HEIGHT}.0", f"{HEIGHT / 2}"]


def test_every_line_has_its_look_on_light_paper_and_on_dark():
    drawn = ET.fromstring(svg(9, 9, []))
    light, dark = found(drawn, "style")[0].text.split("@media(prefers-color-scheme:dark)")
    for number in range(len(LIGHT)):
        look = f".line.{Series(number, ()).look}{{stroke:"
        assert look in light
        assert look in dark
    assert len(set(LIGHT)) == len(set(DARK)) == len(LIGHT) == len(DARK)


def test_words_are_escaped():
    assert found(ET.fromstring(svg(9, 9, [text(0, 0, "<5 & >3")])), "text")[0].text == "<5 & >3"


def words_of(rows, door=None):
    return [each.text for each in found(ET.fromstring(picture(rows, door)), "text")]


def rows(device="X (not measured)", c100=1.0):
    return [
        Row(device, policy, 2.0, offered, 9, 1, {"p50": 1.0, "p95": 2.0, "p99": p99}, c100, 0.5)
        for policy in ("deadline", "fifo")
        for offered, p99 in ((10, 3.0), (20, None))
    ]


def test_a_picture_has_a_panel_a_figure_and_a_name_a_policy():
    words = words_of(rows(), door=12)
    assert "X, simulated" in words
    assert {"deadline", "fifo", "first packet p99, ms", "C100, %", "refused, %"} <= set(words)
    assert words.count("contexts offered at once") == 6
    assert "the door lets 12 contexts speak at once" in words


def test_a_picture_says_that_nobody_measured_and_only_then():
    assert "estimated, not measured" in words_of(rows())
    assert "estimated, not measured" not in words_of(rows("My card"))


def test_the_panel_of_c100_shows_what_little_is_missing():
    assert "98.5" in words_of(rows(c100=0.99))
    assert "98.5" not in words_of(rows(c100=0.7))
