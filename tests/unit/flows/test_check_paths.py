"""What is wrong with the ways through a flow: where they lead, and what is set on them."""

import pytest

from engine.flows.check import check_graph
from tests.unit.calls.harness.builders import say
from tests.unit.flows.checks import END, MENU, faults, nodes
from wire.errors import Faults
from wire.tree import Limits


def test_edges_to_nowhere() -> None:
    """The start and each edge must lead to a node that is there."""
    broken = nodes(
        "no",
        a={**MENU, "branches": {"1": "b"}, "noInput": "c", "invalid": "a"},
        d=say("x", next="e"),
    )
    assert faults(broken).items() >= {
        ("start", "unknown_node"),
        ("nodes.a.branches.1", "unknown_node"),
        ("nodes.a.noInput", "unknown_node"),
        ("nodes.d.next", "unknown_node"),
    }


def test_nodes_that_nobody_comes_to() -> None:
    """Also those that only lead to each other."""
    lost = nodes(a=END, b=say("x", next="c"), c={**MENU, "noInput": "b", "branches": {"1": "a"}})
    lost["nodes"]["c"]["invalid"] = "a"
    assert faults(lost) == {"nodes.b": "unreachable_node", "nodes.c": "unreachable_node"}


def test_circles_without_input() -> None:
    """Each is named by its way; one in which somebody is waited for is none."""
    circle = nodes(
        a={**MENU, "branches": {"1": "b", "2": "d"}, "noInput": "a", "invalid": "a"},
        b=say("x", next="c"),
        c={"type": "goto", "node": "b", "limit": 2},
        d={"type": "condition", "cases": [{"variable": "digits", "next": "a"}], "else": "d"},
    )
    assert faults(circle) == {"nodes.b": "cycle_without_input", "nodes.d": "cycle_without_input"}
    with pytest.raises(Faults, match="b → c → b"):
        check_graph(circle, Limits(), {})


def test_variables_that_nothing_sets() -> None:
    """A name must be set on some way to where it is used; the engine's own are known."""
    unset = nodes(
        a=say("{{vars.x}} {{nonsense}} {{call.secret}} {{event.id}}", next="b"),
        b={**MENU, "branches": {"1": "c"}, "data": {"text": "{{digits}}"}, "invalid": "b"},
        c={"type": "set", "variables": {"x": 1}, "next": "d"},
        d={"type": "condition", "cases": [{"variable": "dial.status", "next": "e"}], "else": "e"},
        e=say("{{vars.x}} {{answers.lookup.tier}}"),
        end=END,
    )
    found = faults(unset)
    assert found == {
        "nodes.a.data.text": "unknown_variable",
        "nodes.d.cases[0].variable": "unknown_variable",
        "nodes.e.data.text": "unknown_variable",
    }
    assert faults(unset | {"inputs": ["x"]}).keys() == found.keys()


def test_inputs_are_set_before() -> None:
    """What whoever runs the flow sets is said by the flow."""
    flow = nodes(a=say("{{vars.x}}"))
    assert faults(flow) == {"nodes.a.data.text": "unknown_variable"}
    assert faults(flow | {"inputs": ["x"]}) == {}
