"""The table of all limits: from marks in the code, and true to the table of errors."""

import re

from api.config import LimitSettings
from tests.harness.each import for_each
from tools.docs.reference.limits import Row, rows
from wire.error_codes.catalogue import CATALOGUE

ROWS = list(rows())


@for_each(ROWS, lambda row: f"{row.owner}-{row.setting}-{row.what[:40]}")
def test_a_row_says_what_more_gets(row: Row) -> None:
    """By codes that a reader can look up."""
    assert row.what.endswith(".")
    assert row.beyond
    assert set(re.findall(r"`(\w+)`", row.beyond)) <= set(CATALOGUE)


@for_each(LimitSettings.model_fields)
def test_a_limit_of_the_rest_layer_has_a_row(name: str) -> None:
    """A setting without the mark would be missing."""
    assert f"`SWITCHROOM_{name.upper()}`" in {each.setting for each in ROWS}


def test_no_limit_has_two_rows() -> None:
    """Each is declared once."""
    assert len({(each.owner, each.what, each.setting) for each in ROWS}) == len(ROWS)
