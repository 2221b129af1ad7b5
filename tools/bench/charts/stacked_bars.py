"""A chart with stacked bars: each has some of the parts."""

import math
from collections.abc import Mapping

from tools.bench.charts.svg import BOTTOM, COLORS, LEFT, RIGHT, Tick, drawing, element, text, y_at

BAR_SHARE = 0.5  # of the space for a bar
MIN_LABELED = 0.05  # of the axis; a lower part has no room for its value
MAX_MARKS = 6
ROUND = (1, 2, 2.5, 5, 10)
HALO = {"stroke": "white", "stroke_width": "3", "paint_order": "stroke"}


def stacked_bars(title: str, bars: Mapping[str, Mapping[str, float]]) -> str:
    """Return an SVG with a bar for each name, and its parts from the bottom to the top."""
    names = list(dict.fromkeys(part for parts in bars.values() for part in parts))
    shown = [name for name in names if any(parts.get(name, 0.0) > 0 for parts in bars.values())]
    colors = dict(zip(shown, COLORS, strict=False))
    step, marks = _marks(max((sum(parts.values()) for parts in bars.values()), default=0.0))
    top = step * marks
    width = (RIGHT - LEFT) / max(len(bars), 1)
    drawn: list[str] = []
    for number, (name, parts) in enumerate(bars.items()):
        middle = LEFT + (number + 0.5) * width
        drawn.append(text(middle, BOTTOM + 20, name, "middle"))
        drawn += _bar(middle, width * BAR_SHARE, parts, colors, top)
    ticks = [Tick(mark / marks, f"{mark * step:g}") for mark in range(marks + 1)]
    return drawing(title, ticks, colors, drawn)


def _bar(
    middle: float, width: float, parts: Mapping[str, float], colors: Mapping[str, str], top: float
) -> list[str]:
    drawn, below = [], 0.0
    for name, color in colors.items():
        value = max(parts.get(name, 0.0), 0.0)
        y, height = y_at((below + value) / top), y_at(0.0) - y_at(value / top)
        if value > 0:
            left = middle - width / 2
            drawn.append(element("rect", x=left, y=y, width=width, height=height, fill=color))
        if value / top >= MIN_LABELED:
            drawn.append(text(middle, y + height / 2 + 4, f"{value:.2g}", "middle", **HALO))
        below += value
    drawn.append(text(middle, y_at(below / top) - 6, f"{below:.3g}", "middle", font_weight="bold"))
    return drawn


def _marks(highest: float) -> tuple[float, int]:
    """Return a round distance of marks, and how many hold the highest value: at most six."""
    if highest <= 0:
        return 1.0, 1
    power = 10.0 ** math.floor(math.log10(highest / MAX_MARKS))
    step = next(each * power for each in ROUND if highest <= each * power * MAX_MARKS)
    return step, math.ceil(highest / step)
