"""Ladder diagrams: time, one lifeline each for engine, legs and web, arrows and texts."""

from itertools import pairwise

from msgspec import Struct
from rich.text import Text

from cli.timeline.row import ENGINE, Row
from cli.timeline.timeline import Diagram

TIME_WIDTH = 9  # columns, with the gap after it
MAX_LIFELINE_WIDTH, MIN_LIFELINE_WIDTH = 8, 3  # columns between lifelines
MIN_TEXT_WIDTH = 40  # columns
STYLES = {
    "plain": "",
    "success": "green",
    "failure": "bold red",
    "digit": "bold yellow",
    "sound": "cyan",
    "web": "magenta",
    "faint": "dim",
}


class _Lifelines(Struct):
    """The columns of the lifelines, and which are active in the current row."""

    columns: dict[str, int]
    alive: set[str]
    bridged: tuple[str, ...] = ()


def draw(diagram: Diagram, width: int) -> list[Text]:
    """Draw a diagram as lines of at most `width` columns."""
    step = max(
        MIN_LIFELINE_WIDTH,
        min(MAX_LIFELINE_WIDTH, (width - TIME_WIDTH - MIN_TEXT_WIDTH) // len(diagram.lifelines)),
    )
    columns = {
        lifeline.id: TIME_WIDTH + 2 + index * step
        for index, lifeline in enumerate(diagram.lifelines)
    }
    lifelines = _Lifelines(columns, {ENGINE})
    drawn = [*_legend(diagram, width), _headings(diagram, columns)]
    text_column = TIME_WIDTH + 2 + len(diagram.lifelines) * step
    before_ms = -1
    for row in diagram.rows:
        time = f"{row.at_ms / 1000:>8.3f}" if row.at_ms != before_ms else ""
        drawn += _row(row, lifelines, time, text_column, width)
        before_ms = row.at_ms
    return drawn


def _legend(diagram: Diagram, width: int) -> list[Text]:
    labels = [
        f"{lifeline.heading} {lifeline.label}" for lifeline in diagram.lifelines if lifeline.label
    ]
    lines = [""]
    for each in labels:
        joined = f"{lines[-1]}   {each}" if lines[-1] else each
        lines = [*lines[:-1], joined] if len(joined) <= width else [*lines, each]
    return [Text(line, style="bold") for line in lines]


def _headings(diagram: Diagram, columns: dict[str, int]) -> Text:
    cells = [" "] * (max(columns.values()) + len(ENGINE))
    for lifeline in diagram.lifelines:
        start = columns[lifeline.id] - (2 if lifeline.id == ENGINE else 0)
        head = lifeline.heading if lifeline.id != ENGINE else "eng"
        cells[start : start + len(head)] = head
    return Text("".join(cells).rstrip(), style="bold")


def _row(row: Row, lifelines: _Lifelines, time: str, text_column: int, width: int) -> list[Text]:
    drawings = [_drawing(row, lifelines)]
    _update(row, lifelines)
    texts = _wrap(row.text, width - text_column)
    drawings += [_idle(lifelines)] * (len(texts) - 1)
    times = [time, *[""] * (len(texts) - 1)]
    return [
        Text.assemble(
            (f"{shown_time:<{TIME_WIDTH}}", "dim"),
            (f"{drawing[TIME_WIDTH:]:<{text_column - TIME_WIDTH}}", "blue"),
            (text, STYLES[row.kind]),
        )
        for shown_time, drawing, text in zip(times, drawings, texts, strict=True)
    ]


def _drawing(row: Row, lifelines: _Lifelines) -> str:
    cells = list(_idle(lifelines))
    match row.shape:
        case "arrow":
            _arrow(cells, row, lifelines)
        case "join" if row.joined:
            _join(cells, row, lifelines)
        case "break":
            first, last = min(lifelines.columns.values()), max(lifelines.columns.values())
            cells[first : last + 1] = "╌" * (last + 1 - first)
            cells[first] = "●"
        case _:
            cells[lifelines.columns[row.source]] = "●"
    return "".join(cells)


def _idle(lifelines: _Lifelines) -> str:
    cells = [" "] * (max(lifelines.columns.values()) + 1)
    for lifeline in lifelines.alive:
        cells[lifelines.columns[lifeline]] = "║" if lifeline in lifelines.bridged else "│"
    return "".join(cells)


def _arrow(cells: list[str], row: Row, lifelines: _Lifelines) -> None:
    start, end = lifelines.columns[row.source], lifelines.columns[row.target]
    low, high = min(start, end), max(start, end)
    for column in range(low + 1, high):
        cells[column] = {"│": "┼", "║": "╫"}.get(cells[column], "─")
    is_rightward = start < end
    cells[end - 1 if is_rightward else end + 1] = "▶" if is_rightward else "◀"
    cells[low] = "├" if is_rightward else "│"
    cells[high] = _corner(row, "│" if is_rightward else "┤")


def _corner(row: Row, default: str) -> str:
    if row.closes:
        return "┘"
    return "┐" if row.opens else default


def _join(cells: list[str], row: Row, lifelines: _Lifelines) -> None:
    columns = sorted(lifelines.columns[leg] for leg in row.joined)
    for low, high in pairwise(columns):
        for column in range(low + 1, high):
            cells[column] = "╪" if cells[column] in "│║" else "═"
    for column in columns:
        cells[column] = "╬"
    cells[columns[0]], cells[columns[-1]] = "╠", "╣"


def _update(row: Row, lifelines: _Lifelines) -> None:
    lifelines.alive = (lifelines.alive | {row.opens} if row.opens else lifelines.alive) - {
        row.closes
    }
    lifelines.bridged = row.bridged


def _wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines += [word[at : at + width] for at in range(0, len(word), width)]
    return [line for line in lines if line] or [""]
