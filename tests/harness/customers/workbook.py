"""Reads the texts of an XLSX workbook (ECMA-376, part 1, section 18)."""

import io
import zipfile
from xml.etree import ElementTree as ET

SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def sheets_of(body: bytes) -> list[list[list[str]]]:
    """Return the rows of each sheet; fails on a cell that is not text."""
    with zipfile.ZipFile(io.BytesIO(body)) as book:
        names = sorted(each for each in book.namelist() if each.startswith("xl/worksheets/sheet"))
        shared: list[str] = []
        if "xl/sharedStrings.xml" in book.namelist():
            items = ET.fromstring(book.read("xl/sharedStrings.xml"))  # noqa: S314 - our own
            shared = ["".join(item.itertext()) for item in items]
        return [_rows(book.read(name), shared) for name in names]


def _rows(body: bytes, shared: list[str]) -> list[list[str]]:
    rows = ET.fromstring(body).iter(f"{SPACE}row")  # noqa: S314 - our own
    return [[_text(cell, shared) for cell in row] for row in rows]


def _text(cell: ET.Element, shared: list[str]) -> str:
    kind = cell.get("t")
    assert kind in ("inlineStr", "s"), kind
    text = "".join(cell.itertext())
    return shared[int(text)] if kind == "s" else text
