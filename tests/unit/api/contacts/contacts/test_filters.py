"""Access paths of contact searches: which index is scanned, and what is checked in its rows."""

import re
from typing import Any

import pytest
from sqlalchemy.dialects import sqlite

from api.contacts.contacts.filters import Filters, IndexScan, index_scans, unfiltered_scans
from api.contacts.contacts.pages import count_matches

NAMES = {"f_name": "ann", "l_name": "be"}
EMAIL_AND_NAME = {"email": "ann@", "f_name": "a"}
SMALL = {"list_id": 7, "is_small": True}


@pytest.mark.parametrize(
    ("filters", "kinds"),
    [
        ({}, ()),
        ({"contact_id": 1}, ()),
        ({**NAMES, "numbers": ("+471234",)}, ("numbers", "name")),
        ({**NAMES, "numbers": ("+4712",)}, ("name", "numbers")),
        ({**NAMES, "numbers": ("+471234", "+471")}, ("name", "numbers")),
        ({"l_name": "berg", "email": "ber"}, ("name", "email")),
        ({"tags": ("vip",), "numbers": ("+4712",), "email": "a"}, ("numbers", "email", "tags")),
    ],
)
def test_the_longest_text_comes_first(filters: dict[str, Any], kinds: tuple[str, ...]) -> None:
    """Of alternative numbers the shortest counts, without its country; tags come last."""
    assert Filters("acme", **filters).kinds == kinds


@pytest.mark.parametrize(
    ("filters", "is_any"), [({}, True), ({"contact_id": 0}, False), ({"email": "a"}, False)]
)
def test_without_filters_any_contact_matches(filters: dict[str, Any], *, is_any: bool) -> None:
    """An id that no contact has is a filter, too."""
    assert Filters("acme", **filters).is_any is is_any


def read(scan: IndexScan) -> tuple[str, str]:
    """Return the conditions and the order of a scan; a plus keeps SQLite from an index.

    `key~ab` is the condition that a key has the prefix ab.
    """
    options = {"literal_binds": True}
    text = str(scan.page(1).compile(dialect=sqlite.dialect(), compile_kwargs=options))
    plain = " ".join(text.split()).replace("contacts.", "").partition(" LIMIT 1 OFFSET")[0]
    conditions, _, order = plain.partition(" WHERE ")[2].rpartition(" ORDER BY ")
    conditions = conditions.replace("SELECT id FROM contacts WHERE", "those of")
    return PREFIX.sub(r"\1~\2", conditions).replace(" AND ", ", "), order


OWN, TIES = "account_id = 'acme'", "list_id, id"


PREFIX = re.compile(r"(\S+) >= '(\S+)' AND \1 < '\2\U0010ffff'")


@pytest.mark.parametrize(
    ("filters", "conditions", "order"),
    [
        ({}, OWN, "id"),
        ({"deleted_lists": (3,)}, f"{OWN}, (+list_id NOT IN (3))", "id"),
        ({"list_id": 7, "deleted_lists": (3,)}, "list_id = 7", "id"),
        ({"list_id": 7, "contact_id": 5, "email": "a"}, "list_id = 7, id = 5, +email_key~a", "id"),
        (
            {"f_name": "ann", "deleted_lists": (3,)},
            f"{OWN}, f_name_key~ann, (+list_id NOT IN (3))",
            f"f_name_key, l_name_key, {TIES}",
        ),
        (
            {**NAMES, "list_id": 7, "deleted_lists": (3,)},
            f"{OWN}, f_name_key~ann, +l_name_key~be, +list_id = 7",
            f"f_name_key, l_name_key, {TIES}",
        ),
        (
            {"f_name": "an", "l_name": "be"},
            f"{OWN}, l_name_key~be, +f_name_key~an",
            f"l_name_key, f_name_key, {TIES}",
        ),
        (EMAIL_AND_NAME, f"{OWN}, email_key~ann@, +f_name_key~a", f"email_key, {TIES}"),
        (
            {**EMAIL_AND_NAME, "by": "name"},
            f"{OWN}, f_name_key~a, +email_key~ann@",
            f"f_name_key, l_name_key, {TIES}",
        ),
        (
            {**EMAIL_AND_NAME, "few": ("name",)},
            f"{OWN}, email_key~ann@, +id IN (those of {OWN}, f_name_key~a)",
            f"email_key, {TIES}",
        ),
        (
            {"numbers": ("+4712",), "email": "a", "list_id": 7},
            f"{OWN}, phone_number~+4712, +list_id = 7, +email_key~a",
            f"phone_number, {TIES}",
        ),
        (
            {**SMALL, "numbers": ("+4712",), "email": "a"},
            "list_id = 7, +phone_number~+4712, +email_key~a",
            "phone_number, id",
        ),
        (
            {**SMALL, "l_name": "b", "numbers": ("+47",)},
            "list_id = 7, +l_name_key~b, +phone_number~+47",
            "l_name_key, f_name_key, id",
        ),
        ({**SMALL, "email": "a"}, "list_id = 7, +email_key~a", "id"),
    ],
)
def test_the_scan_of_a_search(filters: dict[str, Any], conditions: str, order: str) -> None:
    """One kind of filter is looked up in the order of its index; the others are conditions."""
    (scan,) = index_scans(Filters("acme", **filters))
    assert read(scan) == (conditions, order)


def test_alternatives_are_scanned_one_by_one() -> None:
    """Each number, and each tag."""
    filters = Filters("acme", 7, numbers=("+4712", "+472"), tags=("vip", "new"))
    numbers, tags = unfiltered_scans("numbers", filters), unfiltered_scans("tags", filters)
    conditions = [f"{OWN}, phone_number~{each}, +list_id = 7" for each in filters.numbers]
    assert [read(each)[0] for each in numbers] == conditions
    tagged = [f"contact_tags.list_id = 7, contact_tags.tag_id = '{each}'" for each in filters.tags]
    assert [read(each)[0] for each in tags] == tagged


@pytest.mark.parametrize(
    ("filters", "share"),
    [
        ({"f_name": "a"}, 100),
        ({"f_name": "a", "l_name": "b"}, 100),
        (EMAIL_AND_NAME, 10),
        ({**EMAIL_AND_NAME, "few": ("name",), "by": "email"}, 100),
        ({**EMAIL_AND_NAME, "few": ("email",), "by": "email"}, 10),
        ({**EMAIL_AND_NAME, **SMALL}, 100),
        ({"numbers": ("+471", "+472")}, 50),
        ({"contact_id": 5}, 100),
        ({"contact_id": 5, "f_name": "a"}, 10),
    ],
)
def test_how_many_rows_are_counted(filters: dict[str, Any], share: int) -> None:
    """Fewer if other columns than those of an index are read; several scans share the limit."""
    assert count_matches(Filters("acme", **filters), 100)[1] == share
    assert count_matches(Filters("acme", **filters), 1)[1] == 1
