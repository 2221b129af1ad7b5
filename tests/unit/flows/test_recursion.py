"""A flow that calls itself is found when it is checked, also through other flows."""

from typing import Any

import pytest

from engine.flows.recursion import (
    MAX_READ_BYTES,
    MAX_READ_FLOWS,
    StoredFlow,
    called_flows,
    check_no_recursion,
)
from wire.decoding.errors import MAX_ERRORS, BadInput, errors_in


def calling(*flows: str) -> dict[str, Any]:
    """Return a graph that calls flows, one after the other."""
    names = [f"n{number}" for number, _ in enumerate(flows)]
    made = {
        name: {"type": "flow", "data": {"flowId": flow}}
        for name, flow in zip(names, flows, strict=True)
    }
    return {"start": "n0", "nodes": made}


async def faults(
    flow_id: str, document: Any, stored: dict[str, Any], size_bytes: int = 0
) -> tuple[dict[str, str], list[str]]:
    """Return the faults by path, and the flows that were read."""
    reads: list[str] = []

    async def read(name: str) -> StoredFlow:
        reads.append(name)
        called = frozenset(each for _, each in called_flows(stored.get(name)))
        return StoredFlow(called, size_bytes)

    try:
        await check_no_recursion(flow_id, tuple(called_flows(document)), read)
    except BadInput as error:
        return {each.path: each.message for each in errors_in(error)}, reads
    return {}, reads


async def test_flows_that_call_others_once() -> None:
    """A diamond and an unknown flow are no recursion; each flow is read once."""
    stored = {"b": calling("d"), "c": calling("d", "none"), "d": calling("e"), "e": {}}
    found, reads = await faults("a", calling("b", "c", "b"), stored)
    assert found == {}
    assert sorted(reads) == ["b", "c", "d", "e", "none"]


@pytest.mark.parametrize(
    ("document", "path", "way"),
    [
        (calling("x", "a"), "nodes.n1.data.flowId", "a → a"),
        (calling("b"), "nodes.n0.data.flowId", "a → b → a"),
        (calling("c", "x"), "nodes.n0.data.flowId", "a → c → b → a"),
        (
            {
                "type": "say",
                "data": {"text": "x"},
                "action": {"type": "dial", "data": {"flowId": "b"}},
            },
            "action.data.flowId",
            "a → b → a",
        ),
    ],
)
async def test_the_way_is_named(document: Any, path: str, way: str) -> None:
    """Directly, through others, and in a tree of actions."""
    found, _ = await faults("a", document, {"b": calling("a"), "c": calling("b"), "x": {}})
    assert found == {path: f"the flow calls itself: {way}"}


async def test_a_cycle_of_others_is_no_fault_of_this_flow() -> None:
    """The check ends, and the call that reaches the cycle ends with its own reason."""
    found, _ = await faults("a", calling("b"), {"b": calling("c"), "c": calling("b")})
    assert found == {}


async def test_a_check_reads_a_limited_number_of_flows() -> None:
    """So it ends in time, however many flows call each other."""
    chain = {f"f{number}": calling(f"f{number + 1}") for number in range(MAX_READ_FLOWS + 10)}
    _, reads = await faults("a", calling("f0"), chain)
    assert len(reads) == MAX_READ_FLOWS
    _, reads = await faults("a", calling("f0"), chain, size_bytes=MAX_READ_BYTES // 2)
    assert len(reads) == 2


async def test_what_is_reported_is_limited() -> None:
    """A flow that calls itself often, through hundreds of others, had megabytes of faults."""
    chain = {f"f{number}": calling(f"f{number + 1}") for number in range(300)}
    chain["f300"] = calling("a")
    found, _ = await faults("a", calling(*["f0"] * 200), chain)
    assert len(found) == MAX_ERRORS
    way = "a → f0 → f1 → f2 → f3 → … → f297 → f298 → f299 → f300 → a"
    assert set(found.values()) == {f"the flow calls itself: {way}"}


def test_what_a_flow_calls() -> None:
    """An id from a template is not known before the flow runs."""
    tree = {
        "type": "gather",
        "data": {"fallback": {"type": "flow", "data": {"flowId": "f1"}}},
        "action": {"type": "flow", "data": {"flowId": "{{contact.flow}}"}, "action": "https://x"},
    }
    assert list(called_flows(tree)) == [("data.fallback.data.flowId", "f1")]
    assert list(called_flows([tree, {"type": "flow", "data": 7}])) == [
        ("[0].data.fallback.data.flowId", "f1")
    ]
