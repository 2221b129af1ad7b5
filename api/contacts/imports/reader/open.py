"""Opens files: detects their format, and reads their rows."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import dropwhile, islice
from pathlib import Path

from msgspec.structs import replace

from api.contacts.imports.reader.csv_rows import DELIMITERS, csv_rows, detect_delimiter
from api.contacts.imports.reader.encodings import check_encoding, detect_encoding
from api.contacts.imports.reader.messages import (
    MAX_COLUMNS,
    MAX_SAMPLE_CHARS,
    MAX_SAMPLE_ROWS,
    FileFormat,
    FileHints,
    FileRow,
    FileSummary,
    UnreadableFile,
)
from api.contacts.imports.reader.sheets import Sheet, kind_of_zip

ZIP = b"PK"
COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")  # [MS-CFB], section 2.2
SAMPLE_CHARS = 65_536
MAX_HEADER_CHARS = 128
MAX_CELL_CHARS = 256  # of the first rows that are shown
_CHUNK_BYTES = 1 << 20
# Reports that call themselves .xls are often pages, or SpreadsheetML of 2003.
_MARKUP = re.compile(
    r"[\s\ufeff]*(<\?xml|<!--|<!doctype|<html|<head|<meta|<table|<style|<workbook|mime-version:)",
    re.IGNORECASE,
)


def inspect_file(hints: FileHints) -> FileSummary:
    """Return a file's format, headers and first rows; raises UnreadableFile."""
    file_format = detect_format(hints)
    with open_rows(hints.path, file_format) as (rows, max_rows):
        first = next(rows, None)
        if first is None:
            below = f" below row {hints.header_row}" if hints.header_row else ""
            raise UnreadableFile(f"the file is empty{below}")
        sample = list(islice(rows, MAX_SAMPLE_ROWS))
        headers = _headers(first, sample)
        if not sample:
            raise UnreadableFile("a header, and no row below it")
        shown = _shown([row.cells[: len(headers)] for row in sample])
        file_format = replace(file_format, header_row=first.line)
        return FileSummary(file_format, headers, shown, max_rows)


def _shown(rows: list[list[str]]) -> list[list[str]]:
    """Return the beginnings of the cells of some rows: all together have a limit."""
    cells = sum(map(len, rows))
    most = min(MAX_CELL_CHARS, MAX_SAMPLE_CHARS // max(1, cells))
    return [[cell[:most].replace("\0", "\ufffd") for cell in row] for row in rows]


@contextmanager
def open_rows(path: str, file_format: FileFormat) -> Iterator[tuple[Iterator[FileRow], int]]:
    """Open a file: its rows, the header first, and an upper bound of their number."""
    if file_format.delimiter is None:  # a spreadsheet
        sheet = Sheet(path)
        yield _from_header(sheet.rows(), file_format), max(0, sheet.height - 1)
        return
    with Path(path).open(encoding=file_format.encoding, errors="replace") as text:
        rows = csv_rows(text, file_format.delimiter)
        yield _from_header(rows, file_format), _count_lines(path)


def _from_header(rows: Iterator[FileRow], file_format: FileFormat) -> Iterator[FileRow]:
    return dropwhile(lambda row: row.line < file_format.header_row, rows)


def detect_format(hints: FileHints) -> FileFormat:
    """Return a file's format, with the first row as header; raises UnreadableFile."""
    with Path(hints.path).open("rb") as file:
        head = file.read(len(COMPOUND))
    if not head:
        raise UnreadableFile("the file is empty")
    if head.startswith(ZIP):
        return FileFormat(kind_of_zip(hints.path), header_row=hints.header_row or 1)
    if head == COMPOUND:
        return FileFormat("xls", header_row=hints.header_row or 1)
    encoding = (
        check_encoding(hints.encoding)
        if hints.encoding
        else detect_encoding(hints.path, hints.region)
    )
    beginning = _beginning(hints.path, encoding)
    if _MARKUP.match(beginning):
        raise UnreadableFile("a web page or XML, whatever its name says: save it as CSV or .xlsx")
    header_row = hints.header_row or 1
    table = beginning.split("\n", header_row - 1)[-1]  # without a title above it
    delimiter = hints.delimiter or detect_delimiter(table)
    if delimiter not in DELIMITERS:
        raise UnreadableFile(
            f"separated by {delimiter!r}: a comma, a semicolon, a tab or | is expected"
        )
    return FileFormat("csv", encoding, delimiter, header_row)


def _beginning(path: str, encoding: str) -> str:
    """Return the beginning of a text; raises UnreadableFile."""
    try:
        with Path(path).open(encoding=encoding, errors="replace") as text:
            return text.read(SAMPLE_CHARS)
    except UnicodeError:  # in spite of `replace`: where a byte order mark is missing
        reason = f"no byte order mark, which {encoding} begins with: state {encoding}-le or -be"
        raise UnreadableFile(reason) from None


def _headers(row: FileRow, sample: Sequence[FileRow]) -> list[str]:
    """Return the columns' names, or numbers for those without one; raises UnreadableFile.

    The last columns of a header without names are columns if a row has something there.
    """
    if row.error:
        raise UnreadableFile(f"the header is {row.error}")
    width = max(map(_width, (row, *(each for each in sample if not each.error))))
    cells = row.cells[:width]
    if len(cells) > MAX_COLUMNS:
        raise UnreadableFile(f"{len(cells)} columns; at most {MAX_COLUMNS} are taken")
    names = [_column_name(number, cell) for number, cell in enumerate(cells, 1)]
    for name in names:
        if names.count(name) > 1:
            raise UnreadableFile(f"two columns are called {name!r}")
    return names


def _width(row: FileRow) -> int:
    """Return the number of a row's cells up to the last one that is not empty."""
    return max((number for number, cell in enumerate(row.cells, 1) if cell.strip()), default=0)


def _column_name(number: int, cell: str) -> str:
    name = " ".join(cell.split()) or f"Column {number}"
    if not name.isprintable() or "\ufffd" in name:
        raise UnreadableFile(f"the name of column {number} can't be read")
    if len(name) > MAX_HEADER_CHARS:
        raise UnreadableFile(
            f"the name of column {number} is longer than {MAX_HEADER_CHARS} letters"
        )
    return name


def _count_lines(path: str) -> int:
    """Count the lines after the header; a row has one or more lines."""
    lines, last = 0, b"\n"
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    return lines if last != b"\n" else lines - 1
