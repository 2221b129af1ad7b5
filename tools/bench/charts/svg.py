"""Elements of an SVG chart: a frame with title, vertical axis and legend."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 60, 620, 64, 300  # of the area inside the axes
# Distinct for color-blind readers: M. Okabe and K. Ito, "Color Universal Design".
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
INK, GRID = "#333333", "#dddddd"


class Tick(Struct, frozen=True):
    """A mark on the vertical axis, at a share of its height."""

    share: float
    text: str


def element(name: str, content: str = "", **attributes: object) -> str:
    """Return an element; `_` in the name of an attribute is `-`, numbers have one decimal."""
    given = "".join(
        f" {key.replace('_', '-')}={quoteattr(_written(value))}"
        for key, value in attributes.items()
    )
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def text(x: float, y: float, content: str, anchor: str = "start", **attributes: object) -> str:
    """Return a line of text."""
    return element("text", escape(content), x=x, y=y, text_anchor=anchor, fill=INK, **attributes)


def y_at(share: float) -> float:
    """Return the vertical position at a share of the axis's height."""
    return BOTTOM - share * (BOTTOM - TOP)


def drawing(
    title: str, ticks: Sequence[Tick], legend: Mapping[str, str], parts: Iterable[str]
) -> str:
    """Return the whole SVG; `legend` has the colors of the names."""
    lines = [
        element("rect", width=WIDTH, height=HEIGHT, fill="white"),
        text(LEFT, 24, title, font_weight="bold"),
        *_legend(legend),
        *(line for tick in ticks for line in _gridline(tick)),
        *parts,
    ]
    body = "\n".join(["", *lines, ""])
    return element(
        "svg",
        body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        font_family="sans-serif",
        font_size="13",
    )


def write_chart(path: Path, svg: str) -> None:
    """Write a chart to a file, which may exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg + "\n")


def _gridline(tick: Tick) -> list[str]:
    y = y_at(tick.share)
    return [
        element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, stroke=GRID),
        text(LEFT - 8, y + 4, tick.text, "end"),
    ]


def _legend(colors: Mapping[str, str]) -> list[str]:
    lines, x = [], float(LEFT)
    for name, color in colors.items():
        lines.append(element("rect", x=x, y=36, width=12, height=12, fill=color))
        lines.append(text(x + 18, 47, name))
        x += 36 + 7 * len(name)
    return lines


def _written(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
