"""A file opened: what it is, and its rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from api.contacts.imports.reader.csv_rows import DELIMITERS, csv_rows, delimiter_of
from api.contacts.imports.reader.encodings import check_encoding, encoding_of
from api.contacts.imports.reader.messages import (
    MAX_COLUMNS,
    MAX_SAMPLE_ROWS,
    FileFormat,
    FileHints,
    FileRow,
    FileSummary,
    UnreadableFile,
)
from api.contacts.imports.reader.sheets import Sheet
from api.contacts.imports.reader.zip_guard import kind_of_zip

ZIP = b"PK"
COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")  # [MS-CFB], section 2.2
HEAD = 65_536
MAX_HEADER_CHARS = 128
_CHUNK = 1 << 20


def inspect_file(given: FileHints) -> FileSummary:
    """Look at a file; raises Unreadable."""
    found = _format(given)
    with open_rows(given.path, found) as (rows, most):
        first = next(rows, None)
        if first is None:
            raise UnreadableFile("the file is empty")
        headers = _headers(first)
        sample = list(islice(rows, MAX_SAMPLE_ROWS))
        if not sample:
            raise UnreadableFile("a header, and no row below it")
        cells = [[each[:256].replace("\0", "\ufffd") for each in row.cells] for row in sample]
        return FileSummary(found, headers, [row[: len(headers)] for row in cells], most)


@contextmanager
def open_rows(path: str, found: FileFormat) -> Iterator[tuple[Iterator[FileRow], int]]:
    """Give a file's rows, its header the first of them, and how many there are at most."""
    if found.delimiter is None:  # a spreadsheet
        sheet = Sheet(path)
        yield sheet.rows(), max(0, sheet.height - 1)
        return
    with Path(path).open(encoding=found.encoding, errors="replace") as text:
        yield csv_rows(text, found.delimiter), _lines(path)


def _format(given: FileHints) -> FileFormat:
    with Path(given.path).open("rb") as file:
        head = file.read(len(COMPOUND))
    if not head:
        raise UnreadableFile("the file is empty")
    if head.startswith(ZIP):
        return FileFormat(kind_of_zip(given.path))
    if head == COMPOUND:
        return FileFormat("xls")
    encoding = check_encoding(given.encoding) if given.encoding else encoding_of(given.path)
    with Path(given.path).open(encoding=encoding, errors="replace") as text:
        delimiter = given.delimiter or delimiter_of(text.read(HEAD))
    if delimiter not in DELIMITERS:
        raise UnreadableFile(
            f"separated by {delimiter!r}: a comma, a semicolon, a tab or | is expected"
        )
    return FileFormat("csv", encoding, delimiter)


def _headers(row: FileRow) -> list[str]:
    """Name the columns, those without a name by their number; raises Unreadable."""
    if row.fault:
        raise UnreadableFile(f"the header is {row.fault}")
    cells = list(row.cells)
    while cells and not cells[-1].strip():
        cells.pop()
    if len(cells) > MAX_COLUMNS:
        raise UnreadableFile(f"{len(cells)} columns; at most {MAX_COLUMNS} are taken")
    names = [_named(number, cell) for number, cell in enumerate(cells, 1)]
    for name in names:
        if names.count(name) > 1:
            raise UnreadableFile(f"two columns are called {name!r}")
    return names


def _named(number: int, cell: str) -> str:
    name = " ".join(cell.split()) or f"Column {number}"
    if not name.isprintable() or "\ufffd" in name:
        raise UnreadableFile(f"the name of column {number} can't be read")
    if len(name) > MAX_HEADER_CHARS:
        raise UnreadableFile(
            f"the name of column {number} is longer than {MAX_HEADER_CHARS} letters"
        )
    return name


def _lines(path: str) -> int:
    """Count lines, without the header: a row has one, or more of them."""
    lines, last = 0, b"\n"
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK):
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    return lines if last != b"\n" else lines - 1
