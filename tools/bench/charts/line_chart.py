"""A chart with lines over named points and a logarithmic vertical axis."""

import math
from collections.abc import Mapping, Sequence

from tools.bench.charts.svg import BOTTOM, COLORS, LEFT, RIGHT, Tick, drawing, element, text, y_at

MIN_VALUE = 0.1  # the logarithm has no zero


def line_chart(title: str, points: Sequence[str], series: Mapping[str, Sequence[float]]) -> str:
    """Return an SVG; each series has a value for each point, NaN if it was not measured."""
    known = [value for values in series.values() for value in values if not math.isnan(value)]
    low, high = _decades(known)
    colors = dict(zip(series, COLORS, strict=False))
    parts = [
        text(_x(number, points), BOTTOM + 20, name, "middle") for number, name in enumerate(points)
    ]
    for name, values in series.items():
        positions = [
            (_x(number, points), y_at(_share(value, low, high)))
            for number, value in enumerate(values)
            if not math.isnan(value)
        ]
        parts += _line(positions, colors[name])
    return drawing(title, _ticks(low, high), colors, parts)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten below and above all values."""
    logs = [math.log10(max(value, MIN_VALUE)) for value in values] or [0.0]
    low = math.floor(min(logs))
    return low, max(math.ceil(max(logs)), low + 1)


def _ticks(low: int, high: int) -> list[Tick]:
    values = [factor * 10.0**power for power in range(low, high) for factor in (1, 2, 5)]
    return [Tick(_share(value, low, high), f"{value:g}") for value in [*values, 10.0**high]]


def _share(value: float, low: int, high: int) -> float:
    return (math.log10(max(value, MIN_VALUE)) - low) / (high - low)


def _x(number: int, points: Sequence[str]) -> float:
    return LEFT + (number + 0.5) * (RIGHT - LEFT) / len(points)


def _line(positions: Sequence[tuple[float, float]], color: str) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in positions)
    marks = [element("circle", cx=x, cy=y, r=4, fill=color) for x, y in positions]
    return [element("polyline", points=path, fill="none", stroke=color, stroke_width=2), *marks]
