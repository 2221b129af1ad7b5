"""Finds flows that call themselves, directly or through other flows.

A call that runs one ends with `too_many_flows`; so does one whose flows change meanwhile.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from wire.base import tag_of
from wire.decoding.errors import MAX_ERRORS, BadInput, raise_errors
from wire.verbs import Dial, Flow

# Of the flows that a flow calls; a check must not take longer than a request.
MAX_READ_FLOWS = 500
MAX_READ_BYTES = 8_388_608
MAX_SHOWN = 10  # flows of a way; of a longer one, the first and the last
_CALLERS = frozenset({tag_of(Flow), tag_of(Dial)})


class StoredFlow(Struct, frozen=True):
    """The flows that a stored flow calls, and its size."""

    called: frozenset[str] = frozenset()
    size_bytes: int = 0


ReadFlow = Callable[[str], Awaitable[StoredFlow]]  # its newest version; empty: there is none


async def check_no_recursion(
    flow_id: str, called: Sequence[tuple[str, str]], read: ReadFlow
) -> None:
    """Check that a flow does not call itself; raises BadInput, InputErrors.

    `called` are the `called_flows` of its document.
    """
    ways = await _ways_to(flow_id, {each for _, each in called}, read)
    faults = (
        BadInput(path, f"the flow calls itself: {_text((flow_id, *ways[each]))}", "recursive_flow")
        for path, each in called
        if each in ways
    )
    raise_errors(tuple(islice(faults, MAX_ERRORS)))


def called_flows(document: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the id of each flow that a flow calls; ids from templates are unknown."""
    if isinstance(document, list):
        for index, each in enumerate(document):
            yield from called_flows(each, f"{path}[{index}]")
    if not isinstance(document, dict):
        return
    data = document.get("data")
    if document.get("type") in _CALLERS and isinstance(data, dict):
        called = data.get("flowId")
        if isinstance(called, str) and "{{" not in called:
            yield _join(path, "data.flowId"), called
    for name, each in document.items():
        yield from called_flows(each, _join(path, name))


async def _ways_to(caller: str, called: set[str], read: ReadFlow) -> dict[str, tuple[str, ...]]:
    """Return the flows that lead to the caller of `called`, with the shortest way there."""
    graph, left, size_bytes = dict[str, frozenset[str]](), sorted(called - {caller}), 0
    for flow_id in left:  # grows meanwhile
        if flow_id in graph:
            continue
        if len(graph) >= MAX_READ_FLOWS or size_bytes >= MAX_READ_BYTES:
            break
        found = await read(flow_id)
        graph[flow_id], size_bytes = found.called, size_bytes + found.size_bytes
        left += sorted(found.called - {caller})
    ways: dict[str, tuple[str, ...]] = {caller: (caller,)}
    reached = [caller]
    for target in reached:  # backwards from the caller
        for flow_id, inner in graph.items():
            if target in inner and flow_id not in ways:
                ways[flow_id] = (flow_id, *ways[target])
                reached.append(flow_id)
    return ways


def _text(way: Sequence[str]) -> str:
    if len(way) > MAX_SHOWN:
        half = MAX_SHOWN // 2
        way = (*way[:half], "…", *way[-half:])
    return " → ".join(way)


def _join(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step
