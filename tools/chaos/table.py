"""Prints outcomes as a table and converts them to figures like those of `make bench`."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from tools.bench.figure import Figure, figure
from tools.chaos.outcome import Limits, Outcome

COLUMNS = ("fault", "live", "lost", "no owner", "control after", "executed after", "new", "failed",
           "digits lost", "duplicated", "missing", "orphans", "")  # fmt: skip


Row = tuple[Sequence[str], Sequence[str]]  # the cells, and the limits that were missed


def print_table(found: Sequence[tuple[Outcome, Limits]], console: Console) -> None:
    """Print a row for each fault; the last column lists violations."""
    print_rows(COLUMNS, ((_cells(each), each.misses(limits)) for each, limits in found), console)


def print_rows(columns: Sequence[str], rows: Iterable[Row], console: Console) -> None:
    """Print rows, the last column of which says what missed its limit."""
    table = Table(*columns)
    for column in table.columns[1:-1]:
        column.justify = "right"
    for cells, missed in rows:
        verdict = f"[red]{', '.join(missed)}[/red]" if missed else "[green]ok[/green]"
        table.add_row(*cells, verdict)
    console.print(table)


def _cells(each: Outcome) -> Sequence[str]:
    waits = [f"{ms:,.0f} ms" for ms in (each.unowned_ms, each.control_ms, each.executed_ms)]
    counts = (
        each.new,
        each.failed,
        each.missing_digits,
        each.duplicated,
        each.missing,
        each.orphans,
    )
    return (each.fault, str(each.live), str(each.lost), *waits, *map(str, counts))


def figures(each: Outcome) -> list[Figure]:
    """Return the figures of a fault."""
    units = {
        "live": "calls",
        "lost": "calls",
        "unowned_ms": "ms",
        "control_ms": "ms",
        "executed_ms": "ms",
        "new": "calls",
        "failed": "calls",
        "missing_digits": "calls",
        "duplicated": "events",
        "missing": "events",
        "orphans": "calls, channels, bridges",
    }
    return [
        figure(each.fault, name.removesuffix("_ms"), getattr(each, name), unit, suite="chaos")
        for name, unit in units.items()
    ]
