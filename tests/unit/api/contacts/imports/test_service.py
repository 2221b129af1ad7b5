"""Mappings of columns, and rejected rows as CSV."""

from collections.abc import AsyncIterator

import pytest

from api.contacts.imports.reader.messages import RejectedRow
from api.contacts.imports.service import check_mappings, rejected_csv
from wire.decoding.errors import InputErrors

HEADERS = ["Phone", "First name", "City"]


def paths(mappings: dict[str, str]) -> list[str]:
    """Return the paths of the errors."""
    with pytest.raises(InputErrors) as caught:
        check_mappings(mappings, HEADERS, ["city"])
    return [each.path for each in caught.value.errors]


def test_valid_mappings_use_the_file_headers() -> None:
    """The list's assigned fields are allowed, too."""
    mappings = {" First  name": "fName", "Phone": "phoneNumber", "City": "city"}
    assert check_mappings(mappings, HEADERS, ["city"]) == {
        "First name": "fName",
        "Phone": "phoneNumber",
        "City": "city",
    }


def test_all_errors_are_reported_at_once() -> None:
    """Unknown column, unknown field, two columns for one field, no phone number."""
    assert paths({"Fax": "fax", "City": "fName", "First name": "fName"}) == [
        "mappings.Fax",
        "mappings.Fax",
        "mappings.First name",
        "mappings",
    ]


@pytest.mark.parametrize(("count", "is_cut"), [(20, False), (21, True)])
def test_a_message_names_twenty_columns(count: int, is_cut: bool) -> None:
    """There may be hundreds; an ellipsis stands for the others."""
    with pytest.raises(InputErrors) as caught:
        check_mappings({"Fax": "fName"}, [f"Column {number}" for number in range(count)], [])
    [message] = [each.message for each in caught.value.errors if each.path == "mappings.Fax"]
    assert message.endswith("…") == is_cut


async def pages() -> AsyncIterator[list[RejectedRow]]:
    """Yield one page."""
    yield [RejectedRow(2, "city, too long", "12,'=1+1"), RejectedRow(7, "no cells", "")]


async def test_stored_cells_are_not_escaped_again() -> None:
    """That takes time for each download: they were escaped when the file was read."""
    chunks = [chunk async for chunk in await rejected_csv(pages(), ["Phone", "Mail"])]
    assert b"".join(chunks).decode().splitlines() == [
        "line,reason,Phone,Mail",
        '2,"city, too long",12,\'=1+1',
        "7,no cells,",
    ]
