"""Access paths, and the statements built from them."""

from typing import Any

import pytest
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import NullType

from api.cdrs.query.access_paths import access_paths
from api.cdrs.query.filters import Filters
from api.cdrs.query.queries import candidate_paths, count_query, measure_query, page_query


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, ("",)),
        ({"agent_names": ("a",), "call_path": "p"}, ("agent_names", "call_path")),
        ({"agent_names": ("a",), "client_id": "c"}, ("client_id", "agent_names")),
        ({"dialed_number": "+47", "caller_id": "+46"}, ("number", "caller_id")),
        ({"dialed_number": "+47", "req_id": "1"}, ("req_id",)),
        ({"number": "+47", "is_answered": True}, ("number",)),
        ({"purpose": "call", "is_answered": True}, ("call",)),
        ({"purpose": "call", "is_answered": False, "to_number": "+4"}, ("missed", "to_number")),
        ({"is_answered": True}, ("is_answered",)),
    ],
)
def test_candidate_paths(filters: dict[str, Any], names: tuple[str, ...]) -> None:
    """Selective paths first; unselective ones only without an alternative."""
    assert candidate_paths(Filters("acme", **filters).shape) == names


def test_several_agents_are_scanned_one_by_one() -> None:
    """One scan per agent, each in the order of the list."""
    way = access_paths(Filters("acme", agent_names=("a", "b")))["agent_names"]
    assert [each.table.name for each in way] == ["cdr_agents", "cdr_agents"]


MARKS = "cdrs.marks & ? = ?"


@pytest.mark.parametrize(
    ("filters", "way", "looked_up", "looked_at"),
    [
        (
            {"caller_id": "x", "client_id": "y"},
            "client_id",
            "client_id = ?",
            "call.id = cdrs.id AND call.caller_id = ?",
        ),
        (
            {"caller_id": "x", "client_id": "y"},
            "caller_id",
            "caller_id = ?",
            "call.id = cdrs.id AND call.client_id = ?",
        ),
        ({"purpose": "call", "caller_id": "x"}, "caller_id", "caller_id = ?", ""),
        ({"is_answered": True, "caller_id": "x"}, "caller_id", "caller_id = ?", ""),
        (
            {"purpose": "voicemail", "caller_id": "x"},
            "voicemail",
            "has_voicemail = 1",
            "call.id = cdrs.id AND call.caller_id = ?",
        ),
        (
            {"dialed_number": "+47", "caller_id": "x"},
            "caller_id",
            "caller_id = ?",
            "its_numbers.cdr_id = cdrs.id",
        ),
    ],
)
def test_remaining_filters(
    filters: dict[str, Any], way: str, looked_up: str, looked_at: str
) -> None:
    """One filter is scanned; signatures check the others, rows confirm them."""
    query = page_query(Filters("acme", **filters).shape, way, is_after=False)
    said = " ".join(str(query.compile(dialect=sqlite.dialect())).split())
    assert f"cdrs.{looked_up}" in said
    assert MARKS in said.replace("(", "").replace(")", "")
    assert (" AS call " in said or " AS its_" in said) == bool(looked_at)
    assert looked_at in said


@pytest.mark.parametrize("filters", [{"client_id": "x"}, {"is_answered": False}, {"start_ms": 0}])
def test_a_single_filter_reads_only_its_index(filters: dict[str, Any]) -> None:
    """A single filter reads only its index."""
    form = Filters("acme", **filters).shape
    said = str(
        page_query(form, candidate_paths(form)[0], is_after=False).compile(dialect=sqlite.dialect())
    )
    assert "marks" not in said


@pytest.mark.parametrize(
    ("filters", "way", "dearness"),
    [
        ({"client_id": "x"}, "client_id", 1),
        ({"client_id": "x", "call_path": "y", "is_answered": True}, "client_id", 1),
        ({"client_id": "x", "agent_names": ("a",)}, "client_id", 3),
        ({"client_id": "x", "agent_names": ("a",)}, "agent_names", 1),
        ({"client_id": "x", "agent_names": ("a",), "number": "+47"}, "client_id", 10),
    ],
)
def test_weak_signatures_cost_more(filters: dict[str, Any], way: str, dearness: int) -> None:
    """Filters with weak signatures cost more."""
    assert access_paths(Filters("acme", **filters))[way][0].cost == dearness


@pytest.mark.parametrize(
    ("filters", "way", "share"),
    [
        ({}, "", 100),
        ({"client_id": "x"}, "client_id", 100),
        ({"client_id": "x", "number": "+47"}, "client_id", 10),
        ({"agent_names": ("a", "b")}, "agent_names", 50),
        ({"agent_names": ("a", "b"), "call_path": "y"}, "agent_names", 5),
    ],
)
def test_how_many_entries_are_counted(filters: dict[str, Any], way: str, share: int) -> None:
    """Fewer if rows are read for them; the scans of a path share the limit."""
    shape = Filters("acme", **filters).shape
    assert count_query(shape, way, 100)[1] == share
    assert count_query(shape, way, 1)[1] == 1


def test_the_scans_of_a_path_are_measured_together() -> None:
    """Each up to its share of the limit."""
    shape = Filters("acme", agent_names=("a", "b"), client_id="x").shape
    query = measure_query(shape, 120)
    assert [each.name for each in query.selected_columns] == ["client_id", "agent_names"]
    values = query.compile(dialect=sqlite.dialect()).params.values()
    assert [each for each in values if each] == [120, 60, 60]


def test_a_statement_is_built_once_for_a_shape() -> None:
    """The values are parameters, not part of the statement."""
    some = Filters("acme", client_id="x", agent_names=("a", "b"), start_ms=5, end_ms=9)
    others = Filters("other", client_id="y", agent_names=("c", "d"), start_ms=6, end_ms=7)
    assert some.shape == others.shape == some.shape.shape
    query = page_query(some.shape, "client_id", is_after=True)
    assert query is page_query(others.shape, "client_id", is_after=True)
    assert count_query(some.shape, "client_id", 10) is count_query(others.shape, "client_id", 10)
    parameters = query.compile(dialect=sqlite.dialect()).binds
    named = {name for name, each in parameters.items() if each.required}
    assert not any(isinstance(each.type, NullType) for each in parameters.values())
    given = some.parameters.keys() | {"limit", "offset", "most", "after_ms", "after_id"}
    assert named <= given


@pytest.mark.parametrize(
    "more",
    [{"client_id": "x"}, {"is_answered": True}, {"start_ms": 0}, {"agent_names": ("a", "b", "c")}],
)
def test_other_filters_have_another_shape(more: dict[str, Any]) -> None:
    """One more filter, or one more name."""
    assert (
        Filters("acme", agent_names=("a", "b")).shape
        != Filters("acme", **{"agent_names": ("a", "b"), **more}).shape
    )
