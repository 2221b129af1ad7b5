"""Contacts as rows of a file: CSV that no spreadsheet takes for formulas, or a book of texts."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import xlsxwriter

from api.common.csv_injection import encode_csv, escape_formula
from api.common.timestamps import format_ms
from api.contacts.contacts.contact import Contact

COLUMNS = (
    "contactId", "phoneNumber", "fName", "lName", "email", "callStatus", "tags", "createdTime",
)  # fmt: skip
MAX_ROWS = 1_048_576  # of a sheet, its head included (Excel's specifications and limits)
MAX_CELL_CHARS = 32_767  # of a cell
Rows = Sequence[Sequence[str]]


def header_row(fields: Sequence[str]) -> list[str]:
    """Name the columns: a contact's own, and the fields that its list assigns."""
    return [*COLUMNS, *fields]


def contact_rows(contacts: Iterable[Contact], fields: Sequence[str]) -> list[list[str]]:
    """Give a row for each contact."""
    return [_row(each, fields) for each in contacts]


def csv_lines(rows: Rows) -> bytes:
    """Write rows as CSV."""
    return encode_csv([escape_formula(cell) for cell in row] for row in rows)


class Workbook:
    """A workbook that is written row by row; of what it has, only a row is in memory.

    Its cells are texts, which no spreadsheet evaluates. What is more than a sheet takes is on the
    next one.
    """

    def __init__(self, path: Path, names: Sequence[str], most_rows: int = MAX_ROWS) -> None:
        options = {"constant_memory": True, "tmpdir": str(path.parent)}
        self._book = xlsxwriter.Workbook(str(path), options)
        self._names = names
        self._most_rows = most_rows
        self._rows = most_rows

    def add(self, rows: Rows) -> None:
        """Write rows."""
        for row in rows:
            if self._rows == self._most_rows:
                self._sheet = self._book.add_worksheet()
                self._rows = 0
                self._write(self._names)
            self._write(row)

    def close(self) -> None:
        """Write what is left; a book without rows has the names of its columns."""
        if not self._book.worksheets():
            self._sheet = self._book.add_worksheet()
            self._rows = 0
            self._write(self._names)
        self._book.close()

    def _write(self, row: Sequence[str]) -> None:
        for column, cell in enumerate(row):
            if cell:
                self._sheet.write_string(self._rows, column, cell[:MAX_CELL_CHARS])
        self._rows += 1


def _row(contact: Contact, fields: Sequence[str]) -> list[str]:
    its: dict[str, str] = msgspec.json.decode(contact.fields) if contact.fields else {}
    return [
        str(contact.id),
        contact.phone_number,
        contact.f_name or "",
        contact.l_name or "",
        contact.email or "",
        contact.call_status or "",
        " ".join(contact.tags),
        format_ms(contact.created_ms),
        *(str(its.get(name, "")) for name in fields),
    ]
