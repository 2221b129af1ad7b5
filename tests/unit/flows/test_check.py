"""A flow's faults are found when it is stored: all of them, each with its path."""

import json
from typing import Any

import pytest

from engine.calls.model.io_commands import LoadFlowNode
from engine.flows.check import check_graph
from engine.flows.document import read_outline
from engine.flows.node_loading import load_node
from tests.harness.calls.builders import say
from tests.harness.scenarios.graphs import API
from tests.unit.flows.checks import END, LOOKUP, MENU, Found, faults, nodes
from wire.decoding.errors import InputErrors
from wire.tree import Limits
from wire.verbs import Play


def test_a_good_flow() -> None:
    """All kinds of nodes, edges and templates in texts: no faults."""
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
        ({"start": "a", "nodes": {"a": 5}}, {"nodes.a": "invalid"}),
        (nodes(a={"type": "sing"}), {"nodes.a.type": "unknown_node_type"}),
        (nodes(a=say("x", after="b")), {"nodes.a.after": "invalid"}),
        (
            nodes(a={"type": "set", "variables": {"n": 2**63}}),  # a call with it can't be stored
            {"nodes.a.variables.n": "invalid"},
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
        (nodes(a=say("Hi {{contact.fName")), {"nodes.a.data.text": "unclosed_template"}),
        (
            nodes(a={"type": "dial", "data": {"number": "sip:{{contact.n}}@evil.example"}}),
            {"nodes.a.data.number": "sip_host"},
        ),
        (
            nodes(a={"type": "play", "data": {"audioUrl": "http://10.0.0.1/{{ contact.a }}"}}),
            {"nodes.a.data.audioUrl": "insecure_url"},
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
            {"nodes.a.branches.x": "invalid"},
        ),
    ],
    ids=["nothing", "no nodes", "top fields", "no object", "type", "field", "large", "menu",
         "else", "failure", "several", "braces", "sip host", "host", "number", "edge", "address",
         "fallback", "dial a flow", "keys"],
)  # fmt: skip
def test_faults_of_shape(document: Any, expected: Found) -> None:
    """Faulty fields and missing branches of each node."""
    found = faults(document)
    assert {path: found.get(path) for path in expected} == expected


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"type": "sing"},
            "invalid value 'sing'; one of play, say, gather, record, pause, stream, dial",
        ),
        ({"type": "say", "data": {"text": "x"}, "x": 1}, "unknown field; one of type, data, next"),
        ({"type": "play", "data": {"audioUrl": "https://a.b/", "loop": 0}}, "and at most 100"),
    ],
)
def test_a_fault_says_what_is_allowed(fields: dict[str, Any], message: str) -> None:
    """As in a tree; the allowed fields are listed once."""
    with pytest.raises(InputErrors) as raised:
        check_graph({"start": "a", "nodes": {"a": {**fields, "y": 1}}}, Limits(), {})
    messages = [each.message for each in raised.value.errors]
    assert [each for each in messages if message in each]
    assert sum("; one of type" in each for each in messages) <= 1


@pytest.mark.parametrize("loop", [1.0, 1e2, None, ""])
def test_nodes_are_read_like_verbs(loop: Any) -> None:
    """Whole floats, null and empty texts: in the check, and when the node runs."""
    data = {"audioUrl": "https://example.com/a", "loop": loop}
    flow = nodes(a={"type": "play", "data": data, "next": ""}) | {"name": None}
    assert faults(flow) == {}
    outline = read_outline(json.dumps(flow).encode())
    assert outline is not None
    node = load_node(LoadFlowNode("r", "f", 1, "a"), outline, lambda _name: None, Limits()).node
    assert isinstance(node.verb, Play)
    assert (node.verb.data.loop, node.exits) == (int(loop or 1), ())


def test_a_flow_for_messages_needs_no_call() -> None:
    """Nodes that only calls can run are reported; the rest is checked as in any flow."""
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


def test_a_pause() -> None:
    """It is a node of calls, with its length checked; it is no input that ends a cycle."""
    flow = nodes(a={"type": "pause", "data": {"length": 2}, "next": "end"}, end=END)
    assert faults(flow) == {}
    assert faults({**flow, "kind": "message"})["nodes.a.type"] == "needs_a_call"
    flow["nodes"]["a"]["data"]["length"] = 0
    assert faults(flow) == {"nodes.a.data.length": "invalid"}
    flow["nodes"]["a"] |= {"data": {"length": 1}, "next": "a"}
    del flow["nodes"]["end"]
    assert faults(flow) == {"nodes.a": "cycle_without_input"}


def test_missing_requests() -> None:
    """The account must have each API request, and the variables that it uses must be set."""
    flow = nodes(a={**LOOKUP, "success": "end"}, end=END)
    assert faults(flow, {}) == {"nodes.a.data.requestId": "unknown_request"}
    assert faults(flow) == {"nodes.a.data.requestId": "unknown_variable"}
    assert faults(flow | {"inputs": ["key"]}) == {}


def test_too_many_nodes() -> None:
    """The number of nodes is limited."""
    many = {"start": "n0", "nodes": {f"n{n}": END for n in range(201)}}
    assert faults(many) == {"nodes": "invalid"}
