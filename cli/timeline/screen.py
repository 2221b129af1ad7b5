"""Output of a timeline: a live drawing on a terminal, new lines only in a pipe."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cli.output import PlainConsole
from cli.timeline.ladder import draw, lines
from wire.views import Timeline

MIN_WIDTH, MAX_WIDTH = 80, 120  # columns


class Screen(Protocol):
    """The output for a watched call."""

    def show(self, timeline: Timeline, note: str = "") -> None:
        """Show the current timeline; `note` explains a missing update."""
        ...


def table_console() -> Console:
    """Return a console that is wide enough for ids in a pipe and ignores markup in names."""
    console = PlainConsole(highlight=False, markup=False)
    if console.is_terminal:
        return console
    return PlainConsole(highlight=False, markup=False, width=MAX_WIDTH)


def ladder(timeline: Timeline, console: Console) -> list[Text]:
    """Draw a timeline as a ladder diagram of the console's width."""
    return [
        *title(timeline),
        *draw(timeline, max(MIN_WIDTH, min(MAX_WIDTH, console.width))),
    ]


def title(timeline: Timeline) -> list[Text]:
    call = timeline.call
    about = f"{call.direction}, from {call.from_} to {call.to}, account {call.account}"
    return [Text(f"call {call.call_id}", style="bold"), Text(f"{about}, {call.status}")]


def print_timeline(timeline: Timeline, console: Console) -> None:
    for line in ladder(timeline, console):
        console.print(line, soft_wrap=True)


@contextmanager
def open_screen(console: Console) -> Iterator[Screen]:
    """Yield the screen for a console while a call is watched."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield _Drawing(live)


class _Drawing:
    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, timeline: Timeline, note: str = "") -> None:
        """Draw the title and as many of the last lines as fit."""
        console = self._live.console
        lines = ladder(timeline, console)
        height = max(console.height - 8, 4)
        rows = lines[:4] + lines[4:][-height:]
        rows += [Text(note, style="bold yellow")] if note else []
        hint = Text("Ctrl-C stops watching; the call continues", style="dim")
        self._live.update(Group(*rows, hint), refresh=True)


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._printed = 0
        self._note = ""

    def show(self, timeline: Timeline, note: str = "") -> None:
        """Print the new lines."""
        printed = list(lines(timeline))
        if note and note != self._note:
            printed.append(note)
        self._note = note
        for line in printed[self._printed :]:
            self._console.print(Text(line), soft_wrap=True)
        self._printed = max(self._printed, len(printed) - bool(note))
