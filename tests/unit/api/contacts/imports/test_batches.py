"""Batches of contacts that a file is read in."""

import datetime as dt
from pathlib import Path

import pytest
from msgspec.structs import asdict

from api.contacts.imports.reader.batches import batches
from api.contacts.imports.reader.messages import (
    Action,
    Batch,
    FileFormat,
    Kind,
    ReadRequest,
    RejectedRow,
)
from tests.harness.api.contacts.sheets import a_sheet, sheet

HEADERS = ["Phone", "Name", "Mail", "City"]
MAPPINGS = {"Phone": "phoneNumber", "Name": "lName", "Mail": "email", "City": "city"}


def read(
    folder: Path, *rows: str, action: Action = "skip", skip: int = 0, max_rows: int = 100
) -> list[Batch]:
    """Read a CSV file with these rows."""
    path = folder / "contacts.csv"
    path.write_text("\n".join((",".join(HEADERS), *rows)))
    request = ReadRequest(
        str(path), FileFormat("csv", "utf-8", ","), HEADERS, MAPPINGS, "NO", action, skip
    )
    return list(batches(request, max_rows))


def contacts_in(batch: Batch) -> list[tuple[str, str | None]]:
    """Return the numbers and last names of a batch."""
    return list(zip(batch.phone_number, batch.l_name, strict=True))


def test_a_batch_has_a_column_for_each_field(tmp_path: Path) -> None:
    """In the order of the numbers, with keys for searches; what is empty is null."""
    (batch,) = read(tmp_path, "90000002,Bø Berg,B@Example.com,Oslo", "90000001")
    assert asdict(batch) == {
        "rows": 2,
        "duplicates": 0,
        "rejects": [],
        "phone_number": ["+4790000001", "+4790000002"],
        "f_name": [None, None],
        "l_name": [None, "Bø Berg"],
        "email": [None, "B@Example.com"],
        "f_name_key": [None, None],
        "l_name_key": [None, "bø berg"],
        "email_key": [None, "b@example.com"],
        "fields": [None, '{"city":"Oslo"}'],
    }


def test_a_number_occurs_once_in_a_batch(tmp_path: Path) -> None:
    """The first row counts; an updating import merges the later ones into it."""
    rows = ("90000001,Berg,,Oslo", "90000001,Dahl", "+47 900 00 001,,n@example.com")
    (batch,) = read(tmp_path, *rows)
    assert (batch.rows, batch.duplicates, batch.l_name, batch.email) == (3, 2, ["Berg"], [None])
    (batch,) = read(tmp_path, *rows, action="update")
    assert (batch.rows, batch.duplicates) == (3, 2)
    assert (batch.l_name, batch.email) == (["Dahl"], ["n@example.com"])
    assert batch.fields == ['{"city":"Oslo"}']


def test_rejected_rows_have_their_line_and_cells(tmp_path: Path) -> None:
    """They count as rows; a batch may consist of them alone."""
    (batch,) = read(tmp_path, "12,Berg")
    (rejected,) = batch.rejects
    assert isinstance(rejected, RejectedRow)
    assert (batch.rows, rejected.line, batch.phone_number) == (1, 2, [])
    assert rejected.reason.startswith("phoneNumber: too long or too short")
    assert rejected.cells == "12,Berg"


@pytest.mark.parametrize("kind", ["xlsx", "xls", "ods"])
def test_a_date_is_no_number(tmp_path: Path, kind: Kind) -> None:
    """A spreadsheet says which cells are dates; their digits could be a number's."""
    path = tmp_path / "contacts"
    path.write_bytes(a_sheet(kind))
    headers, mappings = ["Phone", "Name", "Born"], {"Born": "phoneNumber"}
    request = ReadRequest(str(path), FileFormat(kind), headers, mappings, "NO", "skip", 0)
    (batch,) = batches(request)
    assert (batch.phone_number, batch.rejects[0].line) == ([], 2)
    assert batch.rejects[0].reason == "phoneNumber: a date, not a phone number"


def test_a_time_and_a_fraction_are_no_numbers(tmp_path: Path) -> None:
    """A whole number is one; what a fraction's last digits were is unknown."""
    path = tmp_path / "contacts.xlsx"
    cells = (dt.time(12, 34, 56), 479_000.012, 4_790_000_001)
    path.write_bytes(sheet(("Phone",), *((each,) for each in cells)))
    request = ReadRequest(
        str(path), FileFormat("xlsx"), ["Phone"], {"Phone": "phoneNumber"}, "NO", "skip", 0
    )
    (batch,) = batches(request)
    reasons = [each.reason.split()[2] for each in batch.rejects]
    assert (reasons, batch.phone_number) == (["time,", "fraction,"], ["+4790000001"])


def test_batches_follow_one_another(tmp_path: Path) -> None:
    """`rows` counts from the start of the file, also after the rows that are imported already."""
    rows = [f"9000000{number},{number}" for number in range(5)]
    found = read(tmp_path, *rows, max_rows=2)
    assert [each.rows for each in found] == [2, 4, 5]
    assert contacts_in(found[2]) == [("+4790000004", "4")]
    found = read(tmp_path, *rows, max_rows=2, skip=2)
    assert [each.rows for each in found] == [4, 5]
    assert contacts_in(found[0]) == [("+4790000002", "2"), ("+4790000003", "3")]
    assert read(tmp_path, *rows, skip=5) == []


def test_a_batch_of_large_rows_has_few(tmp_path: Path) -> None:
    """It is decoded in one step of the event loop, and no row is lost between two batches."""
    rows = [f"900000{each:02},{'x' * 60_000},," for each in range(40)]
    found = read(tmp_path, *rows)
    assert [each.rows for each in found] == [18, 36, 40]
    assert sum(len(each.rejects) for each in found) == 40  # such a name is too long
