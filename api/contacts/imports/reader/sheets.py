"""Reads the rows of a spreadsheet's first visible sheet, cells as text.

Zip files are checked for zip bombs before the library opens them.
"""

import datetime as dt
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from api.contacts.imports.reader.csv_rows import TOO_LONG
from api.contacts.imports.reader.messages import MAX_ROW_CHARS, FileRow, Kind, UnreadableFile

# What the library says of an ods file that it can't read, also if it has too many cells.
_UNKNOWN = "Cannot detect file format"
TOO_FAR = ", or too many rows and columns, perhaps because a cell is far from the others"
MAX_MEMBERS = 2_000
MAX_INFLATED_BYTES = 1 << 30
# Spreadsheets shrink to a twentieth. Apache POI, too, refuses what inflates a hundred times.
MAX_RATIO = 100
MIN_ALLOWED_BYTES = 1 << 26  # whatever its ratio: a small file costs little
_ODS = b"application/vnd.oasis.opendocument.spreadsheet"
_HEADER_BYTES = 30  # then name and extra field (APPNOTE.TXT, section 4.3.7)
_CHUNK_BYTES = 1 << 16
NO_SHEET = "a zip file, but no spreadsheet: xlsx or ods is expected"
BROKEN = "a broken zip file"


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


def kind_of_zip(path: str) -> Kind:
    """Return the kind of a zipped spreadsheet; raises UnreadableFile, also for a zip bomb."""
    try:
        with Path(path).open("rb") as file, ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise UnreadableFile(f"a spreadsheet of more than {MAX_MEMBERS} members")
            _check_sizes(file, members, _allowed_bytes(os.fstat(file.fileno()).st_size))
            return _kind_of(archive)
    # zipfile raises a RuntimeError for a password, or an unknown compression method.
    except (BadZipFile, OSError, EOFError, RuntimeError, ValueError) as error:
        raise error if isinstance(error, UnreadableFile) else UnreadableFile(BROKEN) from None


def _kind_of(archive: ZipFile) -> Kind:
    names = set(archive.namelist())
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "content.xml" in names and "mimetype" in names and archive.read("mimetype") == _ODS:
        return "ods"
    raise UnreadableFile(NO_SHEET)


def _allowed_bytes(size: int) -> int:
    """Return the inflated size that a file may have: what it costs depends on what was sent."""
    return min(MAX_INFLATED_BYTES, max(MIN_ALLOWED_BYTES, size * MAX_RATIO))


def _check_sizes(file: BinaryIO, members: list[ZipInfo], allowed: int) -> None:
    """Check the inflated sizes by inflating: the sizes in the headers may be false."""
    left = allowed
    for member in members:
        left -= _inflated_size(file, member, left)
        if left <= 0:
            raise UnreadableFile(f"a zip bomb: it inflates to more than {allowed} bytes")


def _inflated_size(file: BinaryIO, member: ZipInfo, max_bytes: int) -> int:
    file.seek(member.header_offset)
    header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        raise BadZipFile
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    file.seek(name + extra, 1)
    if not member.compress_type:
        return member.compress_size
    inflate, size, left = zlib.decompressobj(-zlib.MAX_WBITS), 0, member.compress_size
    while left > 0 and size <= max_bytes and not inflate.eof:
        chunk = file.read(min(_CHUNK_BYTES, left))
        if not chunk:
            raise BadZipFile
        left -= len(chunk)
        size += _chunk_size(inflate, chunk, max_bytes - size)
    return size


def _chunk_size(inflate: "zlib._Decompress", chunk: bytes, max_bytes: int) -> int:
    """Return the inflated size of a chunk, inflated in small steps."""
    size = 0
    while chunk and size <= max_bytes:
        try:
            size += len(inflate.decompress(chunk, 1 << 20))
        except zlib.error:
            raise BadZipFile from None
        chunk = inflate.unconsumed_tail
    return size
