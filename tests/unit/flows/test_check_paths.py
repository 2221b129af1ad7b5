"""Faults of a flow's paths: where they lead, and which variables are set on them."""

import pytest

from engine.flows.check import check_graph
from tests.harness.calls.builders import say
from tests.unit.flows.checks import END, MENU, faults, nodes
from wire.decoding.errors import InputErrors
from wire.tree import Limits


def test_edges_to_missing_nodes() -> None:
    """The start and each edge must lead to an existing node."""
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


def test_unreachable_nodes() -> None:
    """Also nodes that only lead to each other."""
    lost = nodes(a=END, b=say("x", next="c"), c={**MENU, "noInput": "b", "branches": {"1": "a"}})
    lost["nodes"]["c"]["invalid"] = "a"
    assert faults(lost) == {"nodes.b": "unreachable_node", "nodes.c": "unreachable_node"}


def test_cycles_without_input() -> None:
    """Each is reported with its path; a cycle with a waiting node is allowed."""
    cycle = nodes(
        a={**MENU, "branches": {"1": "b", "2": "d"}, "noInput": "a", "invalid": "a"},
        b=say("x", next="c"),
        c={"type": "goto", "node": "b", "limit": 2},
        d={"type": "condition", "cases": [{"variable": "digits", "next": "a"}], "else": "d"},
    )
    assert faults(cycle) == {"nodes.b": "cycle_without_input", "nodes.d": "cycle_without_input"}
    with pytest.raises(InputErrors, match="b → c → b"):
        check_graph(cycle, Limits(), {})


def test_undefined_variables() -> None:
    """A name must be set on some path to its use; the engine's own names are known."""
    undefined = nodes(
        a=say("{{vars.x}} {{nonsense}} {{call.secret}} {{event.id}}", next="b"),
        b={**MENU, "branches": {"1": "c"}, "data": {"text": "{{digits}}"}, "invalid": "b"},
        c={"type": "set", "variables": {"x": 1}, "next": "d"},
        d={"type": "condition", "cases": [{"variable": "dial.status", "next": "e"}], "else": "e"},
        e=say("{{vars.x}} {{answers.lookup.tier}}"),
        end=END,
    )
    found = faults(undefined)
    assert found == {
        "nodes.a.data.text": "unknown_variable",
        "nodes.d.cases[0].variable": "unknown_variable",
        "nodes.e.data.text": "unknown_variable",
    }
    assert faults(undefined | {"inputs": ["x"]}).keys() == found.keys()


def test_inputs_are_defined() -> None:
    """The flow declares the variables that its caller sets."""
    flow = nodes(a=say("{{vars.x}}"))
    assert faults(flow) == {"nodes.a.data.text": "unknown_variable"}
    assert faults(flow | {"inputs": ["x"]}) == {}
