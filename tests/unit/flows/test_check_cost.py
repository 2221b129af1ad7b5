"""A check takes a fraction of a second, whatever a flow of the largest size contains."""

import time
from typing import Any

import msgspec
import pytest

from engine.flows.check import MAX_FLOW_BYTES, check_graph, check_tree
from wire.decoding.errors import MAX_ERRORS, BadInput, errors_in
from wire.tree import Limits

MAX_CPU_S = 2.0  # tens of milliseconds each, alone on a machine
SAY = {"type": "say", "data": {"text": "x"}}
TREE_BYTES = Limits().size_bytes


def texts(text: Any) -> dict[str, Any]:
    """Return a flow with one text."""
    return {"start": "a", "nodes": {"a": {"type": "say", "data": {"text": text}}}}


def same(node: Any, count: int) -> dict[str, Any]:
    """Return a flow with one node many times."""
    return {"start": "n0", "nodes": {f"n{number}": node for number in range(count)}}


def variables(count: int, per_node: int) -> dict[str, Any]:
    """Return a valid flow that sets many variables, and may go from each node to any part."""
    nodes: dict[str, Any] = {}
    for number in range(count):
        names = {f"v{number}x{place}": 1 for place in range(per_node)}
        nodes[f"s{number}"] = {"type": "set", "variables": names, "next": f"m{number}"}
        targets = [f"s{(number * 7 + step * 13 + 1) % count}" for step in range(12)]
        keys = dict(zip("0123456789", targets, strict=False))
        ends = {"noInput": f"s{(number + 1) % count}", "invalid": targets[11]}
        nodes[f"m{number}"] = {"type": "menu", "branches": keys, **ends, "data": {"text": "x"}}
    return {"start": "s0", "nodes": nodes}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(texts("{{" * 120_000), id="braces"),
        pytest.param(texts("{{vars" + ".a" * 120_000), id="a long name"),
        pytest.param(texts(["{{"] * 40_000), id="many texts"),
        pytest.param(same([1, 2, 3], 15_000), id="nodes of another type"),
        pytest.param(same({"type": "condition", "cases": [1] * 500}, 199), id="wrong items"),
        pytest.param(
            same({"type": "menu", "branches": {f"x{n}": 1 for n in range(140)}}, 150),
            id="wrong keys",
        ),
        pytest.param(same({**SAY, **{f"y{n}": 1 for n in range(100)}}, 199), id="wrong fields"),
        pytest.param(variables(90, 64), id="variables"),
    ],
)
def test_the_largest_flows_are_checked_in_time(document: dict[str, Any]) -> None:
    """Some took minutes, in which an engine lost its calls. The number of faults is limited."""
    assert len(msgspec.json.encode(document)) <= MAX_FLOW_BYTES
    began_s = time.process_time()
    found: tuple[BadInput, ...] = ()
    try:
        check_graph(document, Limits(), {})
    except BadInput as error:
        found = errors_in(error)
    assert time.process_time() - began_s < MAX_CPU_S
    assert len(found) <= MAX_ERRORS


@pytest.mark.parametrize(
    "data",
    [
        {"text": "{{" * 30_000},
        {"number": [1] * 30_000},
        {"number": "+4721930000", "whisper": {"type": "say", "data": {"text": ["x"] * 15_000}}},
    ],
)
def test_the_largest_trees_are_checked_in_time(data: dict[str, Any]) -> None:
    """Actions without a graph have the same bound."""
    tree = {"type": "say" if "text" in data else "dial", "data": data}
    assert len(msgspec.json.encode(tree)) <= TREE_BYTES
    began_s = time.process_time()
    with pytest.raises(BadInput):
        check_tree(tree, Limits())
    assert time.process_time() - began_s < MAX_CPU_S
