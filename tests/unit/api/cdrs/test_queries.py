"""Which filter is looked up by: the one that the fewest calls share."""

from typing import Any

import pytest
from sqlalchemy.dialects import sqlite

from api.cdrs.filters import Filters
from api.cdrs.queries import lookups, page


@pytest.mark.parametrize(
    ("filters", "tables"),
    [
        ({}, ["cdrs"]),
        ({"agent_names": ("a", "b")}, ["cdr_agents", "cdr_agents"]),
        ({"agent_names": ("a",), "call_path": "p"}, ["cdr_agents"]),
        ({"agent_names": ("a",), "client_id": "c"}, ["cdrs"]),
        ({"dialed_number": "+47", "caller_id": "+46"}, ["cdr_numbers"]),
        ({"dialed_number": "+47", "req_id": "1"}, ["cdrs"]),
        ({"number": "+47"}, ["cdr_numbers"]),
    ],
)
def test_the_table(filters: dict[str, Any], tables: list[str]) -> None:
    """Agents are looked up each on its own."""
    assert [each.table.name for each in lookups(Filters("acme", **filters))] == tables


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"caller_id": "x", "client_id": "y"}, ["cdrs.client_id =", "+cdrs.caller_id ="]),
        ({"purpose": "call", "caller_id": "x"}, ["cdrs.caller_id =", "+cdrs.has_recording ="]),
        ({"purpose": "voicemail", "caller_id": "x"}, ["cdrs.has_voicemail = 1", "+cdrs.caller_id"]),
        ({"purpose": "call", "is_answered": False}, ["has_recording = 1", "cdrs.is_answered = 0"]),
        ({"is_answered": True}, ["cdrs.is_answered = 1"]),
    ],
)
def test_the_column(filters: dict[str, Any], words: list[str]) -> None:
    """What is only looked at has a plus, so that SQLite takes no index for it."""
    literal = {"literal_binds": True}
    query = page(Filters("acme", **filters), 10)
    said = str(query.compile(dialect=sqlite.dialect(), compile_kwargs=literal))
    for each in words:
        assert f" {each}" in said or f".{each}" in said, said
