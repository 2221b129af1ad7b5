"""What is wrong with a flow is found when it is stored: all of it, each with its place."""

from typing import Any

import pytest

from engine.flows.check import check_graph
from tests.sim.graphs import API
from tests.unit.calls.building import say
from wire.errors import Faults
from wire.request import ApiRequest
from wire.tree import Limits

MENU: dict[str, Any] = {
    "type": "menu",
    "data": {"text": "press"},
    "branches": {"1": "end"},
    "noInput": "end",
    "invalid": "end",
}
END = {"type": "hangup"}
LOOKUP = {"type": "request", "data": {"requestId": API}, "success": "hi", "failure": "end"}
APIS = {API: ApiRequest("https://crm.example/{{vars.key}}", answers={"tier": "/tier"})}
Found = dict[str, str]


def faults(document: Any, apis: dict[str, ApiRequest] | None = None) -> Found:
    """Check a flow; give its faults by their places."""
    try:
        check_graph(document, Limits(), APIS if apis is None else apis)
    except Faults as error:
        return {each.path: each.code for each in error.faults}
    return {}


def nodes(start: str = "a", **given: Any) -> dict[str, Any]:
    """Make a flow that begins at `a`."""
    return {"start": start, "nodes": given}


def test_a_good_flow() -> None:
    """Every kind of node, edges, templates where texts are: nothing to say."""
    good = nodes(
        "set",
        set={"type": "set", "variables": {"key": "{{call.from}}"}, "next": "lookup"},
        lookup={**LOOKUP, "failure": "menu"},
        hi=say("{{answers.lookup.tier}} {{contact.fName}} {{custom.order.id}}", next="menu"),
        menu={**MENU, "branches": {"1": "sales", "2": "leave", "3": "other"}, "invalid": "again"},
        again={"type": "goto", "node": "menu", "limit": 3, "next": "end"},
        sales={"type": "dial", "data": {"number": "{{custom.sales}}", "callerId": "{{call.to}}"}},
        leave={"type": "record", "data": {"audioUrl": "{{custom.prompt}}"}, "next": "sent"},
        sent={"type": "play", "data": {"audioUrl": "{{record.url}}"}},
        other={"type": "flow", "data": {"flowId": "{{contact.flow}}"}, "next": "after"},
        after=say("{{vars.whatever}} {{digits}}"),
        end=END,
    )
    assert faults(good) == {}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, {"start": "invalid"}),
        ({"start": "a", "nodes": {}}, {"nodes": "invalid"}),
        (nodes(a=END) | {"version": 3, "name": 4}, {"version": "invalid", "name": "invalid"}),
        (nodes(a={"type": "sing"}), {"nodes.a.type": "unknown_node_type"}),
        (nodes(a=say("x", after="b")), {"nodes.a.after": "invalid"}),
        (
            nodes(a={"type": "set", "variables": {"n": 2**63}}),  # no call could be stored with it
            {"nodes.a.variables[...]": "invalid"},
        ),
        (
            nodes(a={"type": "menu", "branches": {"1": "a"}}),
            {"nodes.a.noInput": "missing_branch"},
        ),
        (
            nodes(a={"type": "condition", "cases": [{"variable": "digits", "next": "a"}]}),
            {"nodes.a.else": "missing_branch"},
        ),
        (
            nodes(a={"type": "request", "data": {"requestId": API}, "success": "a"}),
            {"nodes.a.failure": "missing_branch"},
        ),
        (
            nodes(a={"type": "dial", "data": {"number": "me"}, "timeout": "x"}, b=say("")),
            {"nodes.a.data.number": "invalid", "nodes.a.timeout": "invalid",
             "nodes.b.data.text": "invalid"},
        ),
        (
            nodes(a={"type": "gather", "data": {"maxDigits": "{{contact.n}}"}}),
            {"nodes.a.data.maxDigits": "invalid"},
        ),
        (nodes(a=say("x", next="{{contact.n}}")), {"nodes.a.next": "invalid"}),
        (
            nodes(a={"type": "play", "data": {"audioUrl": "http://example.com/a"}}),
            {"nodes.a.data.audioUrl": "insecure_url"},
        ),
        (
            nodes(a={"type": "gather", "data": {"fallback": END}}),
            {"nodes.a.data.fallback": "invalid"},
        ),
        (
            nodes(a={"type": "dial", "data": {"flowId": "other"}}),
            {"nodes.a.data.flowId": "invalid"},
        ),
        (
            nodes(a={"type": "menu", **MENU, "branches": {"x": "a"}}),
            {"nodes.a.branches": "invalid"},
        ),
    ],
    ids=["nothing", "no nodes", "top fields", "type", "field", "large", "menu", "else", "failure",
         "several", "number", "edge", "address", "fallback", "dial a flow",
         "keys"],
)  # fmt: skip
def test_faults_of_shape(document: Any, expected: Found) -> None:
    """Each node's fields, branches that are missing among them."""
    found = faults(document)
    assert {path: found.get(path) for path in expected} == expected


def test_a_flow_for_messages_needs_no_call() -> None:
    """What only a call can run is named, node by node; the rest is checked as in any flow."""
    good = nodes(
        "set",
        set={"type": "set", "variables": {"key": "1"}, "next": "lookup"},
        lookup={**LOOKUP, "success": "is", "failure": "again"},
        **{"is": {"type": "condition", "cases": [], "else": "hi"}},
        again={"type": "goto", "node": "lookup"},
        hi=say("{{answers.lookup.tier}}", next="other"),
        other={"type": "flow", "data": {"flowId": "other"}},
    )
    good["nodes"]["is"]["cases"] = [{"variable": "vars.key", "value": "1", "next": "hi"}]
    assert faults({**good, "kind": "message"}) == {}
    bad = nodes(a={**MENU, "noInput": "b"}, b=say("x", next="end"), end=END)
    found = {"nodes.a.type": "needs_a_call", "nodes.end.type": "needs_a_call"}
    assert (faults(bad), faults({**bad, "kind": "message"})) == ({}, found)
    assert faults({**bad, "kind": "fax"}) == {"kind": "invalid"}


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


def test_requests_that_are_not_there() -> None:
    """The account must have each API request; and what that uses must be set, too."""
    flow = nodes(a={**LOOKUP, "success": "end"}, end=END)
    assert faults(flow, {}) == {"nodes.a.data.requestId": "unknown_request"}
    assert faults(flow) == {"nodes.a.data.requestId": "unknown_variable"}
    assert faults(flow | {"inputs": ["key"]}) == {}


def test_too_many_nodes() -> None:
    """The number of nodes has a limit."""
    many = {"start": "n0", "nodes": {f"n{n}": END for n in range(201)}}
    assert faults(many) == {"nodes": "invalid"}
