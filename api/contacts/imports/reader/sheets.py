"""Reads the rows of a spreadsheet's first visible sheet, cells as text."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from api.contacts.imports.reader.csv_rows import TOO_LONG
from api.contacts.imports.reader.messages import MAX_ROW_CHARS, FileRow, UnreadableFile

# What the library says of an ods file that it can't read, also if it has too many cells.
_UNKNOWN = "Cannot detect file format"
TOO_FAR = ", or too many rows and columns, perhaps because a cell is far from the others"


class Sheet:
    """The first visible sheet of a spreadsheet."""

    def __init__(self, path: str) -> None:
        try:
            self._sheet = _first(CalamineWorkbook.from_path(path))
        except PasswordError:
            raise UnreadableFile("protected by a password") from None
        except (CalamineError, OSError, ValueError) as error:
            reason = TOO_FAR if str(error) == _UNKNOWN else f": {str(error)[:120]}"
            raise UnreadableFile(f"a broken spreadsheet{reason}") from None
        self.height = self._sheet.height

    def rows(self) -> Iterator[FileRow]:
        """Yield the rows, without blank ones."""
        for line, row in enumerate(self._sheet.iter_rows(), 1):  # with the empty first ones
            cells = [_text(each) for each in row]
            if sum(map(len, cells)) > MAX_ROW_CHARS:
                yield FileRow(line, [cells[0][:80]], TOO_LONG)
            elif any(map(str.strip, cells)):
                yield FileRow(line, cells, kinds=_kinds(row))


def _first(book: CalamineWorkbook) -> CalamineSheet:
    for meta in book.sheets_metadata:
        if meta.visible == SheetVisibleEnum.Visible and meta.typ == SheetTypeEnum.WorkSheet:
            return book.get_sheet_by_name(meta.name)
    raise UnreadableFile("a spreadsheet without a visible sheet")


def _kinds(row: list[Any]) -> dict[int, str]:
    """Return what the cells are whose digits are no phone number, by position."""
    return {at: found for at, cell in enumerate(row) if (found := _kind(cell))}


def _kind(cell: Any) -> str:
    match cell:
        case dt.date():
            return "a date"
        case dt.time() | dt.timedelta():
            return "a time"
        case float() if not cell.is_integer():
            return "a fraction"
        case _:
            return ""


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # numbers are floats: 4790000001.0
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return str(cell)
