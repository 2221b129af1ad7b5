"""A table for any width: wide values wrap; a row is a block where columns would be too narrow."""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

MIN_CELL = 12  # letters; narrower columns than that cannot be read
GAP = 2  # between two columns

Cell = str | Text


class AdaptiveTable:
    """Rows with headings; the first column has ids, which are never broken."""

    def __init__(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        self._headings = headings
        self._rows = rows

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        widths = self._widths(console)
        least = [widths[0], *(min(each, MIN_CELL) for each in widths[1:])]
        width = options.max_width - GAP * len(least[1:])
        fits = sum(least) <= width
        yield self._table(_narrowed(widths, least, width)) if fits else self._blocks()

    def _widths(self, console: Console) -> list[int]:
        """Return the width of each column that breaks nothing."""
        columns = zip(self._headings, *self._rows, strict=True)
        return [max(_width(console, cell) for cell in column) for column in columns]

    def _table(self, widths: Sequence[int]) -> Table:
        table = Table(*self._headings, box=None, pad_edge=False)
        for column, width in zip(table.columns, widths, strict=True):
            column.overflow = "fold"
            column.width = width
        for row in self._rows:
            table.add_row(*row)
        return table

    def _blocks(self) -> Table:
        """Return a line for each value, with its heading; a line is empty between two rows."""
        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for number, row in enumerate(self._rows):
            if number:
                table.add_row("", "")
            for heading, cell in zip(self._headings, row, strict=True):
                if cell:
                    table.add_row(heading, cell)
        return table


def _narrowed(widths: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Return widths that fit together, the widest first narrowed; Rich would cut letters off."""
    found = list(widths)
    for _ in range(sum(widths) - width):
        widest = max(range(len(found)), key=lambda each: (found[each] > least[each], found[each]))
        found[widest] -= 1
    return found


def _width(console: Console, cell: Cell) -> int:
    text = cell if isinstance(cell, Text) else Text(cell)
    return console.measure(text).maximum
