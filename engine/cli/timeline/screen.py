"""A call's timeline on the screen: drawn whole, or live; in a pipe, line by line as it grows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from engine.cli.timeline.ladder import draw
from engine.cli.timeline.row import ENGINE
from engine.cli.timeline.timeline import Diagram, build_diagram
from wire.views import Timeline

MIN_WIDTH, MAX_WIDTH = 80, 120  # columns


class Screen(Protocol):
    """What a call that is watched is shown on."""

    def show(self, timeline: Timeline, note: str = "") -> None:
        """Show how far it has come; `note` tells why nothing moves."""
        ...


def table_console() -> Console:
    """Give a console that is wide enough for ids in a pipe; names are not taken for markup."""
    console = Console(highlight=False, markup=False)
    return (
        console if console.is_terminal else Console(highlight=False, markup=False, width=MAX_WIDTH)
    )


def ladder(timeline: Timeline, console: Console) -> list[Text]:
    """Draw a timeline as wide as the console allows."""
    return [
        *title(timeline),
        *draw(build_diagram(timeline), max(MIN_WIDTH, min(MAX_WIDTH, console.width))),
    ]


def title(timeline: Timeline) -> list[Text]:
    """Say which call this is."""
    call = timeline.call
    about = f"{call.direction}, from {call.from_} to {call.to}, account {call.account}"
    return [Text(f"call {call.call_id}", style="bold"), Text(f"{about}, {call.status}")]


def print_timeline(timeline: Timeline, console: Console) -> None:
    """Print a timeline."""
    for line in ladder(timeline, console):
        console.print(line, soft_wrap=True)


@contextmanager
def open_screen(console: Console) -> Iterator[Screen]:
    """Give a screen that suits the console, for as long as a call is watched."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield _Drawing(live)


class _Drawing:
    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, timeline: Timeline, note: str = "") -> None:
        """Draw its title and as much of its end as there is room for."""
        console = self._live.console
        lines = ladder(timeline, console)
        room = max(console.height - 8, 4)
        rows = lines[:4] + lines[4:][-room:]
        rows += [Text(note, style="bold yellow")] if note else []
        hint = Text("Ctrl-C stops watching; the call goes on", style="dim")
        self._live.update(Group(*rows, hint), refresh=True)


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._told = 0
        self._note = ""

    def show(self, timeline: Timeline, note: str = "") -> None:
        """Print what is new."""
        lines = list(_plain(build_diagram(timeline)))
        if note and note != self._note:
            lines.append(note)
        self._note = note
        for line in lines[self._told :]:
            self._console.print(Text(line), soft_wrap=True)
        self._told = max(self._told, len(lines) - bool(note))


def _plain(story: Diagram) -> Iterator[str]:
    heads = {lane.id: lane.heading for lane in story.lanes}
    for row in story.rows:
        lane = row.target if row.source == ENGINE else row.source
        yield f"{row.at_ms / 1000:>8.3f}  {heads[lane]:<7} {row.text}"
