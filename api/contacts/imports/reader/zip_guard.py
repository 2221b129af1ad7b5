"""Zip files that are not what they seem: looked through before anything believes them."""

import zlib
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from api.contacts.imports.reader.messages import Kind, UnreadableFile

MAX_MEMBERS = 2_000
MAX_INFLATED_BYTES = 1 << 30
_ODS = b"application/vnd.oasis.opendocument.spreadsheet"
_HEADER = 30  # bytes, then name and extra field (APPNOTE.TXT, section 4.3.7)
_CHUNK = 1 << 16
NO_SHEET = "a zip file, but no spreadsheet: xlsx or ods is expected"
BROKEN = "a broken zip file"


def kind_of_zip(path: str) -> Kind:
    """Tell which spreadsheet a zip file is; raises Unreadable for none, and for zip bombs."""
    try:
        with Path(path).open("rb") as file, ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise UnreadableFile(f"a spreadsheet of more than {MAX_MEMBERS} members")
            _check_sizes(file, members)
            return _kind(archive)
    # zipfile raises a RuntimeError for a password, or a method of packing that it does not know.
    except (BadZipFile, OSError, EOFError, RuntimeError, ValueError) as error:
        raise error if isinstance(error, UnreadableFile) else UnreadableFile(BROKEN) from None


def _kind(archive: ZipFile) -> Kind:
    names = set(archive.namelist())
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "content.xml" in names and "mimetype" in names and archive.read("mimetype") == _ODS:
        return "ods"
    raise UnreadableFile(NO_SHEET)


def _check_sizes(file: BinaryIO, members: list[ZipInfo]) -> None:
    """Count what really comes out: what a zip file says of itself may be a lie."""
    left = MAX_INFLATED_BYTES
    for member in members:
        left -= _inflated(file, member, left)
        if left <= 0:
            raise UnreadableFile(f"a zip bomb: it inflates to more than {MAX_INFLATED_BYTES} bytes")


def _inflated(file: BinaryIO, member: ZipInfo, most: int) -> int:
    file.seek(member.header_offset)
    header = file.read(_HEADER)
    if len(header) < _HEADER:
        raise BadZipFile
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    file.seek(name + extra, 1)
    if not member.compress_type:
        return member.compress_size
    inflate, size, left = zlib.decompressobj(-zlib.MAX_WBITS), 0, member.compress_size
    while left > 0 and size <= most and not inflate.eof:
        chunk = file.read(min(_CHUNK, left))
        if not chunk:
            raise BadZipFile
        left -= len(chunk)
        size += _size(inflate, chunk, most - size)
    return size


def _size(inflate: "zlib._Decompress", chunk: bytes, most: int) -> int:
    """Count what a chunk inflates to, a little at a time."""
    size = 0
    while chunk and size <= most:
        try:
            size += len(inflate.decompress(chunk, 1 << 20))
        except zlib.error:
            raise BadZipFile from None
        chunk = inflate.unconsumed_tail
    return size
