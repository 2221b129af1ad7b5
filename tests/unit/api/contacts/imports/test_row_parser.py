"""Conversion of rows to contacts."""

import pytest

from api.contacts.imports.reader.messages import MAX_ROW_CHARS, FileRow
from api.contacts.imports.reader.row_parser import (
    MAX_REJECTED_CHARS,
    InvalidRow,
    RowParser,
    cells_csv,
)

HEADERS = ["Phone", "Name", "Mail", "City"]
MAPPINGS = {"Phone": "phoneNumber", "Name": "fName", "Mail": "email", "City": "city"}


def parser() -> RowParser:
    """Return a parser with all columns."""
    return RowParser(HEADERS, MAPPINGS, "NO")


def test_a_row_is_a_contact() -> None:
    """Cells are stripped; short rows have empty cells at their end."""
    contact = parser().parse(
        FileRow(2, [" 90000001 ", " Nina\nBerg", "n@example.com", "Oslo", " "])
    )
    assert (contact.number, contact.f_name, contact.fields) == (
        "+4790000001",
        "Nina Berg",
        {"city": "Oslo"},
    )
    assert parser().parse(FileRow(2, ["90000001"])).email is None
    link = "mailto:n@example.com?subject=" + "x" * 254
    assert parser().parse(FileRow(2, ["90000001", "", link])).email == "n@example.com"


def test_fields_keep_their_lines() -> None:
    """As a request may set them; a download that is imported again changes nothing."""
    contact = parser().parse(FileRow(2, ["90000001", "Nina", "", " Storgata 1\n0155\tOslo\n"]))
    assert contact.fields == {"city": "Storgata 1\n0155\tOslo"}


def test_a_later_row_is_merged() -> None:
    """An empty cell keeps the earlier value."""
    first = parser().parse(FileRow(2, ["90000001", "Nina", "", "Oslo"]))
    later = parser().parse(FileRow(3, ["90000001", "", "n@example.com", ""]))
    both = first.merged_with(later)
    assert (both.f_name, both.email, both.fields) == ("Nina", "n@example.com", {"city": "Oslo"})


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["", "Nina"], "phoneNumber: no phone number"),
        (["12"], "phoneNumber: too long or too short"),
        (["90000001", "N" * 129], "fName: longer than 128 letters"),
        (["90000001", "", "nina"], "email: not an address"),
        (["90000001", "", "e:n@example.com"], "email: not an address"),
        (["90000001", "", "n" * 254 + "@b"], "email: longer than 254 letters"),
        (["90000001", "", "", "O" * 1_025], "city: longer than 1024 letters"),
        (["90000001", "", "", "", "x"], "5 cells, but there are 4 columns"),
        (["90000001", "a\0b"], "control characters"),
        (["90000001", "a\ufffdb"], "not of the file's encoding"),
    ],
)
def test_rejected_rows_have_a_reason(cells: list[str], why: str) -> None:
    """The field, and the error."""
    with pytest.raises(InvalidRow, match=why):
        parser().parse(FileRow(2, cells))


def test_a_rejected_row_can_be_stored() -> None:
    """Without characters that a database rejects, and truncated."""
    assert cells_csv(FileRow(2, ["a\0b", "=1+1"])) == "a\ufffdb,'=1+1"
    assert len(cells_csv(FileRow(2, ["x" * MAX_ROW_CHARS, "y"]))) < 5_000
    long = "x" * (MAX_REJECTED_CHARS - 1)
    assert cells_csv(FileRow(2, [long, "yz", "z"])) == f"{long},y"
