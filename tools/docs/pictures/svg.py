"""SVG from a few elements: text, lines, arrows and boxes, readable on light and dark pages."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

_STYLE = """
text{font:13px system-ui,sans-serif;fill:#24292f}
.small{font-size:11px;fill:#57606a}.bold{font-weight:600}.middle{text-anchor:middle}
.box{fill:#f6f8fa;stroke:#8c959f}.own{fill:#ddf4ff;stroke:#0969da}
.other{fill:#fff1e5;stroke:#bc4c00}
.group{fill:none;stroke:#8c959f;stroke-dasharray:4 4}
.free{fill:none;stroke:#8c959f;stroke-dasharray:3 3}
.line{stroke:#57606a;stroke-width:1.3;fill:none}.life{stroke:#8c959f;stroke-dasharray:3 4}
.dead{stroke:#cf222e;stroke-width:2.5}.bad{fill:#cf222e}.head{fill:#57606a}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.small{fill:#9198a1}
.box{fill:#161b22;stroke:#6e7681}.own{fill:#0c2d4f;stroke:#4493f8}.other{fill:#4a2508;stroke:#db6d28}
.group,.free{stroke:#6e7681}.line{stroke:#9198a1}.life{stroke:#6e7681}.head{fill:#9198a1}
.dead{stroke:#f85149}.bad{fill:#f85149}
}
"""
_HEAD = (
    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto-start-reverse"><path class="head" d="M0 0L8 4L0 8z"/></marker>'
)


def picture(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """Return a whole picture; the title is what readers hear who do not see it."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    named = f"<title>{escape(title)}</title><style>{_STYLE}</style><defs>{_HEAD}</defs>"
    return "\n".join((start, named, *parts, "</svg>\n"))


def text(x: float, y: float, words: str, classes: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{classes}">{escape(words)}</text>'


def line(start: tuple[float, float], end: tuple[float, float], classes: str = "line") -> str:
    x1, y1, x2, y2 = (*start, *end)
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{classes}"/>'


def arrow(start: tuple[float, float], end: tuple[float, float], *, both: bool = False) -> str:
    """Return a line with a head at its end, or at both."""
    tail = ' marker-start="url(#head)"' if both else ""
    return line(start, end).replace("/>", f' marker-end="url(#head)"{tail}/>')


def box(x: float, y: float, width: float, height: float, classes: str = "box") -> str:
    size = f'width="{width:g}" height="{height:g}"'
    return f'<rect x="{x:g}" y="{y:g}" {size} rx="6" class="{classes}"/>'


def labelled(
    place: tuple[float, float, float, float], words: str, more: str = "", classes: str = "box"
) -> list[str]:
    """Return a box with one or two lines in its middle."""
    x, y, width, height = place
    middle, base = x + width / 2, y + height / 2 + (-3 if more else 5)
    found = [box(x, y, width, height, classes), text(middle, base, words, "bold middle")]
    return [*found, text(middle, base + 17, more, "small middle")] if more else found
