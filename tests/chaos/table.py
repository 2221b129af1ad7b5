"""Prints outcomes as a table and converts them to figures like those of `make bench`."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tests.bench.figure import Figure, figure
from tests.chaos.outcome import Limits, Outcome

COLUMNS = ("fault", "live", "lost", "no owner", "control after", "executed after", "new", "failed",
           "digits lost", "duplicated", "missing", "orphans", "")  # fmt: skip


def print_table(found: Sequence[tuple[Outcome, Limits]], console: Console) -> None:
    """Print a row for each fault; the last column lists violations."""
    table = Table(*COLUMNS)
    for column in table.columns[1:-1]:
        column.justify = "right"
    for each, limits in found:
        counts = (
            each.new,
            each.failed,
            each.missing_digits,
            each.duplicated,
            each.missing,
            each.orphans,
        )
        waits = [f"{ms:,.0f} ms" for ms in (each.unowned_ms, each.control_ms, each.executed_ms)]
        missed = each.misses(limits)
        verdict = f"[red]{', '.join(missed)}[/red]" if missed else "[green]ok[/green]"
        table.add_row(
            *(each.fault, str(each.live), str(each.lost), *waits), *map(str, counts), verdict
        )
    console.print(table)


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
