"""What differs between two versions of a flow."""

from typing import Any

import msgspec
import pytest
from msgspec import to_builtins

from api.routing.flow_diff import MAX_DIFFERENCES, MAX_PATH_CHARS, Version, differences, flow_diff

SAY = {"type": "say", "data": {"text": "Hello."}}


def found(before: Any, after: Any) -> list[Any]:
    """Return the differences as they are shown."""
    return [to_builtins(each) for each in differences(before, after)]


def test_equal_documents() -> None:
    """The order of fields makes no difference."""
    assert found({"a": 1, "b": [SAY]}, {"b": [SAY], "a": 1}) == []


def test_fields_are_named_by_their_paths() -> None:
    """Those that are new, those that are missing, and those with another value."""
    before = {"start": "a", "nodes": {"a": {**SAY, "next": "b"}, "b": {"type": "hangup"}}}
    after = {"start": "a", "nodes": {"a": {"type": "say", "data": {"text": "Hei."}}, "c": SAY}}
    assert found(before, after) == [
        {"path": "nodes.a.data.text", "change": "changed", "before": "Hello.", "after": "Hei."},
        {"path": "nodes.a.next", "change": "removed", "before": "b"},
        {"path": "nodes.b", "change": "removed", "before": {"type": "hangup"}},
        {"path": "nodes.c", "change": "added", "after": SAY},
    ]


def test_lists_are_compared_place_by_place() -> None:
    """A longer one has additions at its end."""
    assert found({"inputs": ["a", "b"]}, {"inputs": ["a", "c", "d"]}) == [
        {"path": "inputs[1]", "change": "changed", "before": "b", "after": "c"},
        {"path": "inputs[2]", "change": "added", "after": "d"},
    ]
    assert found([1], []) == [{"path": "[0]", "change": "removed", "before": 1}]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, True),
        (0, False),
        (None, ""),
        ({}, []),
        ([], {"a": 1}),
        (["a"], "a"),
        ("a", ["a"]),
        (SAY, "https://x.example/"),
    ],
)
def test_values_of_another_type_differ(before: Any, after: Any) -> None:
    """Also those that Python calls equal."""
    assert found(before, after) == [
        {"path": "", "change": "changed", "before": before, "after": after}
    ]
    assert found({"x": None}, {}) == [{"path": "x", "change": "removed", "before": None}]


@pytest.mark.parametrize(("name", "most"), [("a", MAX_DIFFERENCES), ("a" * 8_000, 32)])
def test_the_first_of_many_differences(name: str, most: int) -> None:
    """Limited by their number, and by the length of their paths."""
    one, two = ({name: [value] * MAX_DIFFERENCES + [3]} for value in (1, 2))
    versions = [Version(n, msgspec.json.encode(each)) for n, each in enumerate((one, two), 1)]
    found = flow_diff(*versions)
    assert (len(found.differences), found.has_more) == (most, most < MAX_DIFFERENCES)
    assert sum(len(each.path) for each in found.differences) <= MAX_PATH_CHARS
    longer = Version(3, msgspec.json.encode({name: [4] * (MAX_DIFFERENCES + 1)}))
    assert flow_diff(versions[0], longer).has_more
