"""Which filter is looked up by: the one that the fewest calls share."""

from typing import Any

import pytest
from sqlalchemy.dialects import sqlite

from api.cdrs.filters import Filters
from api.cdrs.lookups import lookups
from api.cdrs.queries import counting, listing


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
    query = listing(Filters("acme", **filters).form, is_after=False)
    said = str(query.compile(dialect=sqlite.dialect()))
    for each in words:
        assert f" {each}" in said or f".{each}" in said, said


def test_a_statement_is_made_once_for_a_form() -> None:
    """Whatever values are asked for; what they are is no part of it."""
    some = Filters("acme", client_id="x", agent_names=("a", "b"), start_ms=5, end_ms=9)
    others = Filters("other", client_id="y", agent_names=("c", "d"), start_ms=6, end_ms=7)
    assert some.form == others.form == some.form.form
    assert listing(some.form, is_after=True) is listing(others.form, is_after=True)
    assert counting(some.form, 10) is counting(others.form, 10)
    named = listing(some.form, is_after=True).compile(dialect=sqlite.dialect()).params.keys()
    given = some.values.keys() | {"limit", "offset", "most", "after_ms", "after_id"}
    assert named <= given


@pytest.mark.parametrize(
    "more",
    [{"client_id": "x"}, {"is_answered": True}, {"start_ms": 0}, {"agent_names": ("a", "b", "c")}],
)
def test_other_filters_are_of_another_form(more: dict[str, Any]) -> None:
    """One more of them, or one more name."""
    assert (
        Filters("acme", agent_names=("a", "b")).form
        != Filters("acme", **{"agent_names": ("a", "b"), **more}).form
    )
