"""A story drawn: time, a lane for the engine and each leg and the web, arrows, words."""

from itertools import pairwise

from msgspec import Struct
from rich.text import Text

from engine.cli.timeline.row import ENGINE, Row
from engine.cli.timeline.timeline import Diagram

TIME_WIDTH = 9  # columns of the time, and of the gap after it
MAX_LANE_WIDTH, MIN_LANE_WIDTH = 8, 3  # columns from lane to lane
MIN_TEXT_WIDTH = 40  # columns that the words are to have at least
STYLES = {
    "plain": "",
    "good": "green",
    "bad": "bold red",
    "digit": "bold yellow",
    "sound": "cyan",
    "web": "magenta",
    "faint": "dim",
}


class _Lines(Struct):
    """The lanes' columns, and which lanes are there as the drawing goes down the page."""

    columns: dict[str, int]
    alive: set[str]
    talking: tuple[str, ...] = ()


def draw(story: Diagram, width: int) -> list[Text]:
    """Draw a story, a Text a line, each at most `width` columns wide."""
    step = max(
        MIN_LANE_WIDTH,
        min(MAX_LANE_WIDTH, (width - TIME_WIDTH - MIN_TEXT_WIDTH) // len(story.lanes)),
    )
    columns = {lane.id: TIME_WIDTH + 2 + place * step for place, lane in enumerate(story.lanes)}
    lines = _Lines(columns, {ENGINE})
    drawn = [*_legend(story, width), _heads(story, columns)]
    words_at = TIME_WIDTH + 2 + len(story.lanes) * step
    before_ms = -1
    for row in story.rows:
        time = f"{row.at_ms / 1000:>8.3f}" if row.at_ms != before_ms else ""
        drawn += _row(row, lines, time, words_at, width)
        before_ms = row.at_ms
    return drawn


def _legend(story: Diagram, width: int) -> list[Text]:
    told = [f"{lane.heading} {lane.label}" for lane in story.lanes if lane.label]
    lines = [""]
    for each in told:
        joined = f"{lines[-1]}   {each}" if lines[-1] else each
        lines = [*lines[:-1], joined] if len(joined) <= width else [*lines, each]
    return [Text(line, style="bold") for line in lines]


def _heads(story: Diagram, columns: dict[str, int]) -> Text:
    cells = [" "] * (max(columns.values()) + len(ENGINE))
    for lane in story.lanes:
        start = columns[lane.id] - (2 if lane.id == ENGINE else 0)
        head = lane.heading if lane.id != ENGINE else "eng"
        cells[start : start + len(head)] = head
    return Text("".join(cells).rstrip(), style="bold")


def _row(row: Row, lines: _Lines, time: str, words_at: int, width: int) -> list[Text]:
    pictures = [_picture(row, lines)]
    _passed(row, lines)
    pieces = _wrapped(row.text, width - words_at)
    pictures += [_idle(lines)] * (len(pieces) - 1)
    times = [time, *[""] * (len(pieces) - 1)]
    return [
        Text.assemble(
            (f"{at:<{TIME_WIDTH}}", "dim"),
            (f"{picture[TIME_WIDTH:]:<{words_at - TIME_WIDTH}}", "blue"),
            (piece, STYLES[row.kind]),
        )
        for at, picture, piece in zip(times, pictures, pieces, strict=True)
    ]


def _picture(row: Row, lines: _Lines) -> str:
    cells = list(_idle(lines))
    match row.shape:
        case "arrow":
            _arrow(cells, row, lines)
        case "join" if row.joined:
            _join(cells, row, lines)
        case "break":
            first, last = min(lines.columns.values()), max(lines.columns.values())
            cells[first : last + 1] = "╌" * (last + 1 - first)
            cells[first] = "●"
        case _:
            cells[lines.columns[row.source]] = "●"
    return "".join(cells)


def _idle(lines: _Lines) -> str:
    cells = [" "] * (max(lines.columns.values()) + 1)
    for lane in lines.alive:
        cells[lines.columns[lane]] = "║" if lane in lines.talking else "│"
    return "".join(cells)


def _arrow(cells: list[str], row: Row, lines: _Lines) -> None:
    start, end = lines.columns[row.source], lines.columns[row.target]
    low, high = min(start, end), max(start, end)
    for column in range(low + 1, high):
        cells[column] = {"│": "┼", "║": "╫"}.get(cells[column], "─")
    is_rightward = start < end
    cells[end - 1 if is_rightward else end + 1] = "▶" if is_rightward else "◀"
    cells[low] = "├" if is_rightward else "│"
    cells[high] = _corner(row, "│" if is_rightward else "┤")


def _corner(row: Row, usual: str) -> str:
    if row.closes:
        return "┘"
    return "┐" if row.opens else usual


def _join(cells: list[str], row: Row, lines: _Lines) -> None:
    columns = sorted(lines.columns[leg] for leg in row.joined)
    for low, high in pairwise(columns):
        for column in range(low + 1, high):
            cells[column] = "╪" if cells[column] in "│║" else "═"
    for column in columns:
        cells[column] = "╬"
    cells[columns[0]], cells[columns[-1]] = "╠", "╣"


def _passed(row: Row, lines: _Lines) -> None:
    lines.alive = (lines.alive | {row.opens} if row.opens else lines.alive) - {row.closes}
    lines.talking = row.bridged


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines += [word[at : at + width] for at in range(0, len(word), width)]
    return [line for line in lines if line] or [""]
