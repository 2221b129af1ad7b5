"""Ladder diagrams: time, one lifeline each for engine, legs and servers, arrows and texts."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from msgspec import Struct
from rich.text import Text

from wire.views import Timeline, TimelineRow, TimelineSpan
from wire.webhook_log import AttemptSummary

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
    "break": "green",
}
_ENGINE = "engine"
_OF_LIFELINES = {"leg", "request"}  # spans with which a lifeline begins and ends


class _Lifelines(Struct):
    """The columns of the lifelines, and which are active in the current row."""

    columns: dict[str, int]
    alive: set[str]
    bridged: set[str]


def draw(timeline: Timeline, width: int) -> list[Text]:
    """Draw a timeline as lines of at most `width` columns; all servers have one lifeline."""
    ordered = sorted(timeline.lifelines, key=lambda each: each.kind == "server")
    servers = [each for each in ordered if each.kind == "server"]
    count = len(ordered) - max(0, len(servers) - 1)
    step = max(
        MIN_LIFELINE_WIDTH, min(MAX_LIFELINE_WIDTH, (width - TIME_WIDTH - MIN_TEXT_WIDTH) // count)
    )
    columns = {
        each.id: TIME_WIDTH + 2 + min(index, count - 1) * step for index, each in enumerate(ordered)
    }
    lifelines = _Lifelines(columns, {_ENGINE}, set())
    drawn = [*_legend(timeline, width), _headings(timeline, columns)]
    text_column = TIME_WIDTH + 2 + count * step
    notes = _AttemptNotes(timeline)
    before_ms = -1
    for row in timeline.rows:
        if not row.text:
            _update(row, lifelines)
            continue
        at_ms = row.at_ms - timeline.call.created_ms
        time = f"{at_ms / 1000:>8.3f}" if at_ms != before_ms else ""
        text = row.text + notes.of(row)
        drawn += _row(row, text, lifelines, time, text_column, width)
        before_ms = at_ms
    return drawn


def lines(timeline: Timeline) -> Iterator[str]:
    """Yield a line of text for each row."""
    headings = {each.id: each.heading for each in timeline.lifelines}
    notes = _AttemptNotes(timeline)
    for row in timeline.rows:
        if row.text:
            lifeline = row.to if row.from_ == _ENGINE else row.from_
            at_s = (row.at_ms - timeline.call.created_ms) / 1000
            yield f"{at_s:>8.3f}  {headings[lifeline]:<7} {row.text}{notes.of(row)}"


class _AttemptNotes:
    """The ids in the webhook log of the attempts that rows are of."""

    def __init__(self, timeline: Timeline) -> None:
        self._attempts = timeline.attempts
        self._servers = {each.id for each in timeline.lifelines if each.kind == "server"}

    def of(self, row: TimelineRow) -> str:
        """Return the ids of a row of a response, or of one attempt; of a request: who got it."""
        if row.attempt:
            found = [each for each in self._attempts if each.id == row.attempt]
        elif row.request and row.from_ in self._servers:
            found = [each for each in self._attempts if _is_of(each, row.request)]
        else:
            got = (_is_of(each, row.request) and each.to_listener for each in self._attempts)
            return " (listener)" if row.request and any(got) else ""
        ids = (f"{each.id}{' (listener)' if each.to_listener else ''}" for each in found)
        return f" [{', '.join(ids)}]" if found else ""


def _is_of(attempt: AttemptSummary, request: str) -> bool:
    return attempt.request_id == request and attempt.retry_of is None


def _legend(timeline: Timeline, width: int) -> list[Text]:
    servers = [each.label for each in timeline.lifelines if each.kind == "server"]
    labels = {each.heading: each.label for each in timeline.lifelines if each.kind != "server"}
    labels |= {_ENGINE: timeline.call.node} | ({"web": ", ".join(servers)} if servers else {})
    lines = [""]
    for heading, label in labels.items():
        if label:
            each = f"{heading} {label}"
            joined = f"{lines[-1]}   {each}" if lines[-1] else each
            lines = [*lines[:-1], joined] if len(joined) <= width else [*lines, each]
    return [Text(line, style="bold") for line in lines]


def _headings(timeline: Timeline, columns: Mapping[str, int]) -> Text:
    cells = [" "] * (max(columns.values()) + len(_ENGINE))
    for lifeline in timeline.lifelines:
        short = {"engine": "eng", "server": "web"}.get(lifeline.kind, lifeline.heading)
        start = columns[lifeline.id] - (2 if lifeline.id == _ENGINE else 0)
        cells[start : start + len(short)] = short
    return Text("".join(cells).rstrip(), style="bold")


def _row(  # noqa: PLR0913, PLR0917 - what is drawn, and where
    row: TimelineRow, text: str, lifelines: _Lifelines, time: str, text_column: int, width: int
) -> list[Text]:
    drawings = [_drawing(row, lifelines)]
    _update(row, lifelines)
    texts = _wrap(text, width - text_column)
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


def _drawing(row: TimelineRow, lifelines: _Lifelines) -> str:
    cells = list(_idle(lifelines))
    if row.joined:
        _join(cells, row, lifelines)
    elif row.kind == "break":
        first, last = min(lifelines.columns.values()), max(lifelines.columns.values())
        cells[first : last + 1] = "╌" * (last + 1 - first)
        cells[first] = "●"
    elif row.from_ == row.to:
        cells[lifelines.columns[row.from_]] = "●"
    else:
        _arrow(cells, row, lifelines)
    return "".join(cells)


def _idle(lifelines: _Lifelines) -> str:
    cells = [" "] * (max(lifelines.columns.values()) + 1)
    for lifeline in lifelines.alive:
        cells[lifelines.columns[lifeline]] = "║" if lifeline in lifelines.bridged else "│"
    return "".join(cells)


def _arrow(cells: list[str], row: TimelineRow, lifelines: _Lifelines) -> None:
    start, end = lifelines.columns[row.from_], lifelines.columns[row.to]
    low, high = min(start, end), max(start, end)
    for column in range(low + 1, high):
        cells[column] = {"│": "┼", "║": "╫"}.get(cells[column], "─")
    is_rightward = start < end
    cells[end - 1 if is_rightward else end + 1] = "▶" if is_rightward else "◀"
    cells[low] = "├" if is_rightward else "│"
    cells[high] = _corner(row, "│" if is_rightward else "┤")


def _corner(row: TimelineRow, default: str) -> str:
    if _has_lifeline(row.ends, row):
        return "┘"
    return "┐" if _has_lifeline(row.begins, row) else default


def _has_lifeline(spans: tuple[TimelineSpan, ...], row: TimelineRow) -> bool:
    ends = {row.from_, row.to}
    return any(each.kind in _OF_LIFELINES and each.lifeline in ends for each in spans)


def _join(cells: list[str], row: TimelineRow, lifelines: _Lifelines) -> None:
    columns = sorted(lifelines.columns[leg] for leg in row.joined)
    for low, high in pairwise(columns):
        for column in range(low + 1, high):
            cells[column] = "╪" if cells[column] in "│║" else "═"
    for column in columns:
        cells[column] = "╬"
    cells[columns[0]], cells[columns[-1]] = "╠", "╣"


def _update(row: TimelineRow, lifelines: _Lifelines) -> None:
    """Let the spans of a row end and begin."""
    for span in row.ends:
        if span.kind in _OF_LIFELINES:
            lifelines.alive.discard(span.lifeline)
        elif span.kind == "bridge":
            lifelines.bridged.discard(span.lifeline)
    for span in row.begins:
        if span.kind in _OF_LIFELINES:
            lifelines.alive.add(span.lifeline)
        elif span.kind == "bridge":
            lifelines.bridged.add(span.lifeline)


def _wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines += [word[at : at + width] for at in range(0, len(word), width)]
    return [line for line in lines if line] or [""]
