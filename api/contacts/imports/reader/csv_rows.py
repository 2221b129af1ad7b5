"""Rows of CSV (RFC 4180, and what else there is under that name).

A quote that is never closed would swallow all that follows. So a row may have only so many lines;
if it has not ended by then, its first line is at fault, and reading goes on with the second.
"""

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import TextIO

from api.contacts.imports.reader.line_reader import Lines, is_too_long
from api.contacts.imports.reader.messages import MAX_ROW_CHARS, FileRow

DELIMITERS = ",;\t|"
MAX_LINES = 100  # of one row
LOOKED_AT = 50  # rows, to find the delimiter
TOO_LONG = f"longer than {MAX_ROW_CHARS} letters"
BROKEN = "broken quoting"
_SAID = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # as Excel writes it


def csv_rows(text: TextIO, delimiter: str) -> Iterator[FileRow]:
    """Read rows; blank ones are passed over."""
    lines = Lines(text)
    while line := lines.next():
        number = lines.number
        if number == 1 and _SAID.fullmatch(line):
            continue
        row = _row(lines, line, delimiter, number)
        if row.fault or any(map(str.strip, row.cells)):
            yield row


def delimiter_of(head: str) -> str:
    """Find the delimiter that gives the rows of a file's head the same number of cells."""
    if said := _SAID.fullmatch(head.partition("\n")[0]):
        return said[1]
    return max(DELIMITERS, key=lambda each: _share(head, each))


def _share(head: str, delimiter: str) -> tuple[float, int]:
    rows = list(islice(csv_rows(io.StringIO(head), delimiter), LOOKED_AT))
    columns = len(rows[0].cells) if rows else 0
    if columns <= 1:
        return 0.0, 0
    return sum(len(row.cells) == columns for row in rows) / len(rows), columns


def _row(lines: Lines, line: str, delimiter: str, number: int) -> FileRow:
    if is_too_long(line):
        return FileRow(number, [line[:80]], TOO_LONG)
    if '"' not in line:
        return FileRow(number, line.rstrip("\n").split(delimiter))
    return _quoted(lines, line, delimiter, number)


def _quoted(lines: Lines, first: str, delimiter: str, number: int) -> FileRow:
    taken = [first]
    while True:
        try:
            return FileRow(number, next(csv.reader(taken, delimiter=delimiter, strict=True)))
        except csv.Error as error:
            if "unexpected end" not in str(error) or not _goes_on(lines, taken):
                lines.back(taken[1:])
                return FileRow(number, [first.rstrip("\n")], BROKEN)


def _goes_on(lines: Lines, taken: list[str]) -> bool:
    """Take more lines, up to one with a quote; False if the row should have ended by then."""
    while len(taken) < MAX_LINES and sum(map(len, taken)) <= MAX_ROW_CHARS:
        if not (line := lines.next()):
            lines.back([line])
            return False
        taken.append(line)
        if is_too_long(line):
            return False
        if '"' in line:
            return True
    return False
