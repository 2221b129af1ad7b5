"""The work for a node whose values do not fit: function calls are counted."""

from cProfile import Profile
from typing import Any

import pytest

from engine.calls.model.io_commands import LoadFlowNode
from engine.calls.model.io_results import FlowNodeLoaded
from engine.flows.node_loading import load_node
from tests.harness.calls.flows import outline
from wire.tree import DEFAULT_LIMITS
from wire.verbs import Dial

GOOD = "+4721930000"


def load(node: dict[str, Any], value: str) -> tuple[FlowNodeLoaded, int]:
    """Return a node with the value of its templates, and how many calls that took."""
    flow, command = outline("a", a=node), LoadFlowNode("r", "f", 1, "a")
    load_node(command, flow, lambda _name: value, DEFAULT_LIMITS)  # types are known then
    with (profile := Profile()):
        loaded = load_node(command, flow, lambda _name: value, DEFAULT_LIMITS)
    return loaded, sum(each.callcount for each in profile.getstats())


@pytest.mark.parametrize(
    ("kind", "field", "item", "count", "value"),
    [
        ("dial", "number", "+{{custom.x}}", 10, "1"),
        ("dial", "number", "{{custom.x}}", 10, "bad"),
        ("play", "audioUrl", "https://{{custom.x}}/", 20, "a b"),
    ],
)
def test_a_list_is_checked_once_more_without_what_does_not_fit(
    kind: str, field: str, item: str, count: int, value: str
) -> None:
    """Not once for each of its items."""
    few, calls_for_few = load({"type": kind, "data": {field: [item] * 2}}, value)
    many, calls_for_many = load({"type": kind, "data": {field: [item] * count}}, value)
    assert (few.is_skipped, many.is_skipped) == (True, True)
    assert len(many.faults) == len(few.faults) + count - 2
    assert calls_for_many < calls_for_few * count / 2


def test_the_items_that_fit_remain_in_their_order() -> None:
    """Between others, which are left out together."""
    numbers = ["{{custom.x}}", GOOD, "+{{custom.x}}", "{{custom.x}}", f"{GOOD[:-1]}1"]
    loaded, _ = load({"type": "dial", "data": {"number": numbers}}, "1")
    assert isinstance(loaded.node.verb, Dial)
    assert loaded.node.verb.data.number == (GOOD, f"{GOOD[:-1]}1")
