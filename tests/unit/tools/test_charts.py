"""Charts are well-formed SVG and show their values."""

import math
from xml.etree import ElementTree as ET

import pytest

from tools.bench.charts.line_chart import line_chart
from tools.bench.charts.stacked_bars import stacked_bars
from tools.bench.charts.svg import TOP

SVG = "{http://www.w3.org/2000/svg}"


def _texts(svg: str) -> list[str]:
    return [each.text or "" for each in _drawn(svg, "text")]


def _drawn(svg: str, name: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(SVG + name))  # noqa: S314 - our own output


def _top(box: ET.Element) -> float:
    return float(box.attrib["y"])


def test_a_line_chart_has_points_legend_and_round_marks() -> None:
    """The axis is logarithmic, from the power of ten below the values to the one above."""
    svg = line_chart("Wait, ms", ["p50", "p99"], {"bare": [1.5, 3.0], "ours & theirs": [5.0, 40.0]})
    texts = _texts(svg)
    assert texts[:3] == ["Wait, ms", "bare", "ours & theirs"]
    assert texts[3:] == ["1", "2", "5", "10", "20", "50", "100", "p50", "p99"]
    heights = [float(each.attrib["cy"]) for each in _drawn(svg, "circle")]
    assert heights == sorted(heights, reverse=True)  # larger values are higher, y runs down


def test_a_value_that_was_not_measured_is_left_out() -> None:
    """NaN has no mark; a chart without any value is still a chart."""
    svg = line_chart("Wait", ["p50", "p99"], {"bare": [1.5, math.nan]})
    assert len(_drawn(svg, "circle")) == 1
    assert _drawn(line_chart("Wait", ["p50"], {"bare": [math.nan]}), "circle") == []


def test_bars_are_stacked_with_their_sums() -> None:
    """A part that no bar has is not in the legend, and each bar has its sum above it."""
    bars = {
        "dialplan": {"Asterisk": 12.0, "engine": 0.0, "unused": 0.0},
        "ours": {"Asterisk": 14.0, "engine": 8.0, "unused": 0.0},
    }
    svg = stacked_bars("CPU", bars)
    texts = _texts(svg)
    assert texts[:3] == ["CPU", "Asterisk", "engine"]
    assert texts[3:9] == ["0", "5", "10", "15", "20", "25"]
    assert {"12", "22", "14", "8"} <= set(texts[9:])
    plan, asterisk, engine = _drawn(svg, "rect")[3:]
    assert _top(engine) < _top(asterisk) < _top(plan)
    assert _top(engine) + float(engine.attrib["height"]) == pytest.approx(_top(asterisk), abs=0.2)


@pytest.mark.parametrize("value", [0.003, 25.6, 30.0, 1_000.0])
def test_the_axis_holds_every_value(value: float) -> None:
    """No bar is higher than its axis, whatever the values."""
    bars = _drawn(stacked_bars("CPU", {"ours": {"engine": value}}), "rect")
    assert all(_top(each) >= TOP for each in bars[2:])  # after the background and the legend
