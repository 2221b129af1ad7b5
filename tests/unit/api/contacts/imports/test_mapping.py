"""Which column fills which field."""

import pytest

from api.contacts.imports.mapping import check_mappings
from wire.errors import InputErrors

HEADERS = ["Phone", "First name", "City"]


def paths(mappings: dict[str, str]) -> list[str]:
    """Give the places of what is wrong."""
    with pytest.raises(InputErrors) as caught:
        check_mappings(mappings, HEADERS, ["city"])
    return [each.path for each in caught.value.errors]


def test_good_mappings_are_kept() -> None:
    """By the names that the columns have; the list's own fields are fields, too."""
    mappings = {" First  name": "fName", "Phone": "phoneNumber", "City": "city"}
    assert check_mappings(mappings, HEADERS, ["city"]) == {
        "First name": "fName",
        "Phone": "phoneNumber",
        "City": "city",
    }


def test_all_faults_are_told_at_once() -> None:
    """No such column, no such field, two for one field, nothing for the number."""
    assert paths({"Fax": "fax", "City": "fName", "First name": "fName"}) == [
        "mappings.Fax",
        "mappings.Fax",
        "mappings.First name",
        "mappings",
    ]
