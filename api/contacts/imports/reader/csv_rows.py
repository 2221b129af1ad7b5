"""Parses rows of CSV (RFC 4180 and its usual variants).

A quote that is never closed would consume the rest of the file. So a row has at most `MAX_LINES`
lines; if it does not end by then, its first line is rejected, and parsing resumes at the second.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TextIO

from api.common.csv_injection import unescape_formula
from api.contacts.imports.reader.messages import MAX_ROW_CHARS, FileRow

DELIMITERS = ",;\t|"
MAX_LINES = 100  # of one row
SAMPLE_ROWS = 50  # to detect the delimiter
TOO_LONG = f"longer than {MAX_ROW_CHARS} letters"
BROKEN = "broken quoting"
# How programs keep Excel from reading digits as a number: ="+4790000001".
_TEXT_FORMULA = re.compile(r'="(.*)"', re.DOTALL)
_SEP_LINE = re.compile(r"\"?sep=(.)\"?[\s,;]*", re.IGNORECASE)  # as Excel writes it


class _Lines:
    """Reads lines of a text with push-back; lines that are too long are cut."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._pushed_back: deque[str] = deque()
        self.number = 0  # of the last line returned, from 1

    def next(self) -> str:
        """Return the next line, or an empty string at the end."""
        self.number += 1
        if self._pushed_back:
            return self._pushed_back.popleft()
        line = self._text.readline(MAX_ROW_CHARS + 1)
        if len(line) > MAX_ROW_CHARS:
            rest = line
            while rest and not rest.endswith("\n"):
                rest = self._text.readline(MAX_ROW_CHARS + 1)
        return line

    def push_back(self, lines: list[str]) -> None:
        """Return lines to the reader, to be read again."""
        self._pushed_back.extendleft(reversed(lines))
        self.number -= len(lines)


def csv_rows(text: TextIO, delimiter: str) -> Iterator[FileRow]:
    """Yield the rows, without blank ones."""
    lines = _Lines(text)
    while line := lines.next():
        number = lines.number
        if number == 1 and _SEP_LINE.fullmatch(line):
            continue
        row = _row(lines, line, delimiter, number)
        if row.error or any(map(str.strip, row.cells)):
            yield row


def detect_delimiter(head: str) -> str:
    """Return the delimiter with which most rows have the same number of cells."""
    if declared := _SEP_LINE.fullmatch(head.partition("\n")[0]):
        return declared[1]
    return max(DELIMITERS, key=lambda each: _regularity(head, each))


def _regularity(head: str, delimiter: str) -> tuple[float, int]:
    rows = list(islice(csv_rows(io.StringIO(head), delimiter), SAMPLE_ROWS))
    columns = len(rows[0].cells) if rows else 0
    if columns <= 1:
        return 0.0, 0
    return sum(len(row.cells) == columns for row in rows) / len(rows), columns


def _row(lines: _Lines, line: str, delimiter: str, number: int) -> FileRow:
    if _is_too_long(line):
        return FileRow(number, [line[:80]], TOO_LONG)
    if '"' not in line:
        cells = line.rstrip("\n").split(delimiter)
        return FileRow(number, [*map(unescape_formula, cells)] if "'" in line else cells)
    return _quoted(lines, line, delimiter, number)


def _quoted(lines: _Lines, first: str, delimiter: str, number: int) -> FileRow:
    parts = [first]
    while True:
        try:
            return FileRow(number, _parsed(parts, delimiter))
        except csv.Error as error:
            if "unexpected end" not in str(error) or not _append_lines(lines, parts):
                lines.push_back(parts[1:])
                return FileRow(number, [first.rstrip("\n")], BROKEN)


def _parsed(lines: list[str], delimiter: str) -> list[str]:
    # A blank before a quote would make the quote a part of the cell.
    cells = next(csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True))
    return [*map(_text, cells)]


def _text(cell: str) -> str:
    """Return what a cell means that was protected against a spreadsheet, by us or by others."""
    if found := _TEXT_FORMULA.fullmatch(cell):
        return found[1].replace('""', '"')
    return unescape_formula(cell)


def _append_lines(lines: _Lines, parts: list[str]) -> bool:
    """Append lines up to one with a quote; False if the row is too long by then."""
    while len(parts) < MAX_LINES and sum(map(len, parts)) <= MAX_ROW_CHARS:
        if not (line := lines.next()):
            lines.push_back([line])
            return False
        parts.append(line)
        if _is_too_long(line):
            return False
        if '"' in line:
            return True
    return False


def _is_too_long(line: str) -> bool:
    """Return whether a line was cut."""
    return len(line) > MAX_ROW_CHARS
