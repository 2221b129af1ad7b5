"""Spreadsheets of contacts for tests, and malicious zip files."""

import datetime as dt
import io
import struct
import zipfile
import zlib
from pathlib import Path

import xlsxwriter

BIRTH = dt.date(1990, 5, 17)
_ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content office:version="1.2"
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
<office:body><office:spreadsheet><table:table table:name="contacts">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""

_MANIFEST = (
    b'<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
)


def a_sheet(kind: str) -> bytes:
    """Return the same contacts as each kind of spreadsheet; one row is blank, one invalid."""
    made = {"xlsx": _xlsx, "ods": _ods, "xls": _xls}
    return made[kind]()


def sheet(*rows: tuple[object, ...]) -> bytes:
    """Return a spreadsheet."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"default_date_format": "hh:mm:ss"}) as book:
        page = book.add_worksheet()
        for line, row in enumerate(rows):
            page.write_row(line, 0, row)
    return out.getvalue()


def far_apart(kind: str) -> bytes:
    """Return a spreadsheet of two cells, in opposite corners."""
    if kind == "ods":
        gap = '<table:table-cell table:number-columns-repeated="16382"/>'
        rows = '</table:table-row><table:table-row table:number-rows-repeated="1048574">'
        return _ods_of(_words("Phone") + rows + "<table:table-cell/>", gap + _words("+4790000001"))
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        page = book.add_worksheet()
        page.write(0, 0, "Phone")
        page.write(1_048_575, 16_383, "+4790000001")
    return out.getvalue()


def zipped(**members: bytes) -> bytes:
    """Return a zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def bomb(gigabytes: int) -> bytes:
    """Return a spreadsheet that inflates to gigabytes, with false sizes in its headers."""
    press, zeros = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS), bytes(1 << 20)
    megabyte = press.compress(zeros) + press.flush(zlib.Z_FULL_FLUSH)  # needs nothing before it
    deflated = megabyte * (gigabytes << 10) + press.flush()
    name = "xl/sheet.xml"
    whole = zipped(**{"xl/workbook.xml": b"<workbook/>", name: b""})
    at = whole.index(b"PK\1\2")
    start = at - 2  # an empty member deflates to two bytes
    return _with_size(whole[:start] + deflated + whole[at:], name.encode(), len(deflated))


def _with_size(content: bytes, name: bytes, size: int) -> bytes:
    """Correct sizes and offsets of a zip file (APPNOTE.TXT, sections 4.3.12 and 4.3.16)."""
    found = bytearray(content)
    entry = content.rindex(name) - 46
    found[entry + 20 : entry + 24] = struct.pack("<I", size)
    end = content.rindex(b"PK\5\6")
    (start,) = struct.unpack("<I", content[end + 16 : end + 20])
    found[end + 16 : end + 20] = struct.pack("<I", start + size - 2)
    return bytes(found)


def _xlsx() -> bytes:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        book.add_worksheet("notes").hide()
        page = book.add_worksheet("contacts")
        page.activate()
        page.write_row(0, 0, ("Phone", "Name", "Born"))
        page.write_row(1, 0, ("+4790000001", "Åse"))
        page.write_datetime(1, 2, BIRTH, book.add_format({"num_format": "yyyy-mm-dd"}))
        page.write_row(3, 0, (4_790_000_002, "Ola"))
        page.write_row(4, 0, ("nobody",))
    return out.getvalue()


def below_empty_rows(kind: str, *rows: tuple[str, ...]) -> bytes:
    """Return a spreadsheet whose first row is the third."""
    if kind == "xlsx":
        return sheet((), (), *rows)
    return _ods_of("<table:table-cell/>", "<table:table-cell/>", *(_words(*row) for row in rows))


def _ods() -> bytes:
    born = f'<table:table-cell office:value-type="date" office:date-value="{BIRTH}"/>'
    number = '<table:table-cell office:value-type="float" office:value="4790000002"/>'
    return _ods_of(
        _words("Phone", "Name", "Born"),
        _words("+4790000001", "Åse") + born,
        "<table:table-cell/>",
        number + _words("Ola"),
        _words("nobody"),
    )


def _ods_of(*rows: str) -> bytes:
    lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    mime = b"application/vnd.oasis.opendocument.spreadsheet"
    content = _ODS.format(rows=lines).encode()
    parts = {"content.xml": content, "META-INF/manifest.xml": _MANIFEST}
    return zipped(mimetype=mime, **parts)


def _words(*cells: str) -> str:
    start = '<table:table-cell office:value-type="string">'
    return "".join(f"{start}<text:p>{cell}</text:p></table:table-cell>" for cell in cells)


def _xls() -> bytes:
    """Return a file of the old format, which no library of the tests writes."""
    return Path(__file__).with_name("contacts.xls").read_bytes()
