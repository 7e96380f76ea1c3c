"""Panels: where values lie, what is written beside them."""

import xml.etree.ElementTree as ET

import pytest

from benchmarks.capacity.chart import HEIGHT, WIDTH, Axis, Panel, Series, steps, svg, text
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
    line = Series("#123456", ((0.0, 0.0), (5.0, 50.0), (10.0, 100.0)))
    drawn = elements(Panel("a title", Axis((0.0, 10.0)), Axis((0.0, 100.0)), (line,), limit=50.0))
    (path,) = found(drawn, "polyline")
    assert path.get("points") == f"0.0,{HEIGHT}.0 {WIDTH / 2},{HEIGHT / 2} {WIDTH}.0,0.0"
    assert len(found(drawn, "circle")) == 3
    assert any(each.get("stroke-dasharray") for each in found(drawn, "line"))


def test_words_are_escaped():
    assert ET.fromstring(svg(9, 9, [text(0, 0, "<5 & >3")]))[1].text == "<5 & >3"


def test_a_picture_has_a_panel_a_figure_and_a_name_a_policy():
    rows = [
        Row("X (not measured)", policy, offered, 9, 1, {"p50": 1.0, "p95": 2.0, "p99": p99}, 1, 0.5)
        for policy in ("deadline", "fifo")
        for offered, p99 in ((10, 3.0), (20, None))
    ]
    words = [each.text for each in found(ET.fromstring(picture(rows)), "text")]
    assert "X (not measured), simulated" in words
    assert {"deadline", "fifo", "first packet p99, ms", "C100, %", "refused, %"} <= set(words)
