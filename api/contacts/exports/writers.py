"""Converts contacts to rows, and writes rows to a workbook."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import xlsxwriter

from api.common.timestamps import format_ms
from api.contacts.contacts.store import Contact

COLUMNS = (
    "contactId", "phoneNumber", "fName", "lName", "email", "callStatus", "tags", "createdTime",
)  # fmt: skip
MAX_ROWS = 1_048_576  # of a sheet, with its header (Excel's specifications and limits)
MAX_CELL_CHARS = 32_767
Rows = Sequence[Sequence[str]]


def header_row(fields: Sequence[str]) -> list[str]:
    """Return the column names: a contact's own, and its list's assigned fields."""
    return [*COLUMNS, *fields]


def contact_rows(contacts: Iterable[Contact], fields: Sequence[str]) -> list[list[str]]:
    return [_row(each, fields) for each in contacts]


class Workbook:
    """A workbook that is written row by row, with one row in memory.

    Its cells are strings, which no spreadsheet evaluates. Rows that exceed a sheet are on the next
    one.
    """

    def __init__(self, path: Path, header: Sequence[str], max_rows: int = MAX_ROWS) -> None:
        options = {"constant_memory": True, "tmpdir": str(path.parent)}
        self._workbook = xlsxwriter.Workbook(str(path), options)
        self._header = header
        self._max_rows = max_rows
        self._rows = max_rows

    def add(self, rows: Rows) -> None:
        for row in rows:
            if self._rows == self._max_rows:
                self._sheet = self._workbook.add_worksheet()
                self._rows = 0
                self._write(self._header)
            self._write(row)

    def close(self) -> None:
        """Finish the file; a workbook without rows has a header."""
        if not self._workbook.worksheets():
            self._sheet = self._workbook.add_worksheet()
            self._rows = 0
            self._write(self._header)
        self._workbook.close()

    def _write(self, row: Sequence[str]) -> None:
        for column, cell in enumerate(row):
            if cell:
                self._sheet.write_string(self._rows, column, cell[:MAX_CELL_CHARS])
        self._rows += 1


def _row(contact: Contact, fields: Sequence[str]) -> list[str]:
    values: dict[str, str] = msgspec.json.decode(contact.fields) if contact.fields else {}
    return [
        str(contact.id),
        contact.phone_number,
        contact.f_name or "",
        contact.l_name or "",
        contact.email or "",
        contact.call_status or "",
        " ".join(contact.tags),
        format_ms(contact.created_ms),
        *(str(values.get(name, "")) for name in fields),
    ]
