"""Validates a flow before it is stored, and reports all faults at once, at most 50.

Checks the shape of each node, then the rules of its verb, then the graph and its variable names.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from engine.flows.document import check_node, is_graph
from engine.flows.errors import explain
from engine.flows.graph import cycles, unknown_targets, unreachable_nodes
from engine.flows.samples import node_with_samples, with_samples
from engine.flows.variable_names import (
    ApiRequests,
    unclosed_templates,
    undefined_names,
    unknown_names,
)
from wire.decoding import lenient
from wire.decoding.error_texts import REQUIRED
from wire.decoding.errors import (
    MAX_ERRORS,
    BadInput,
    ErrorCollector,
    InputErrors,
    errors_in,
    raise_errors,
    type_info,
)
from wire.decoding.json_errors import check_unique, read_json
from wire.flow import FlowOutline, Node, RequestNode
from wire.tree import Limits, check_action
from wire.verbs import Action, Dial, Gather

MAX_FLOW_BYTES = 262_144
BRANCHES = frozenset({"noInput", "invalid", "else", "success", "failure"})


def read_document(body: bytes, size_bytes: int) -> Any:
    """Read JSON; raises BadInput."""
    if len(body) > size_bytes:
        raise BadInput("", f"larger than {size_bytes} bytes", "too_large")
    document = read_json(body)
    check_unique(body)
    return document


def requested_ids(document: Any) -> set[str]:
    """Return the ids of the API requests that a graph names, even if the graph has other faults."""
    nodes = document.get("nodes") if is_graph(document) else None
    found = (each.get("data") for each in _values(nodes) if isinstance(each, dict))
    ids = (data.get("requestId") for data in found if isinstance(data, dict))
    return {each.lower() for each in ids if isinstance(each, str)}


def check_graph(document: dict[str, Any], limits: Limits, apis: ApiRequests) -> None:
    """Check a graph; `apis` are the account's API requests that it names. Raises InputErrors."""
    faults = tuple(islice(_find_faults(document, limits, apis), MAX_ERRORS))
    if faults:
        raise InputErrors(faults)


def check_tree(document: Any, limits: Limits) -> None:
    """Check a tree with samples in place of its templates. Raises BadInput, InputErrors."""
    found = chain(unclosed_templates(document), unknown_names(document))
    faults = list(islice(found, MAX_ERRORS))
    collector = ErrorCollector()
    with collector.check():
        sampled = with_samples(document, type_info(Action))
        check_action(lenient.convert(sampled, Action), limits)
    raise_errors([*collector.errors, *faults])


def _find_faults(document: dict[str, Any], limits: Limits, apis: ApiRequests) -> Iterator[BadInput]:
    yield from unclosed_templates(document)
    outline, faults = explain(document, FlowOutline, "")
    yield from faults
    if outline is None:
        return
    nodes, more = _read_nodes(outline.nodes)
    yield from more
    if outline.kind == "message":
        yield from _call_only_nodes(nodes)
    for name, node in nodes.items():
        yield from _check_verb(node, limits, f"nodes.{name}")
    yield from unknown_targets(outline.start, outline.nodes, nodes)
    yield from _unknown_requests(nodes, apis)
    if outline.start in nodes and not more:  # a partial graph would report follow-up faults
        yield from unreachable_nodes(outline.start, nodes)
        yield from cycles(nodes)
        yield from undefined_names(outline.start, nodes, outline.nodes, outline.inputs, apis)


def _read_nodes(raw: Mapping[str, dict[str, Any]]) -> tuple[dict[str, Node], list[BadInput]]:
    """Read the nodes; omit those that can't be read."""
    nodes: dict[str, Node] = {}
    faults: list[BadInput] = []
    for name, document in raw.items():
        path = f"nodes.{name}"
        node, more = explain(node_with_samples(document), Node, path)
        faults += [_as_fault_of_node(each, path) for each in more]
        if node is not None:
            nodes[name] = node
        if len(faults) >= MAX_ERRORS:
            break
    return nodes, faults


def _as_fault_of_node(fault: BadInput, path: str) -> BadInput:
    if fault.message == REQUIRED and fault.path in {f"{path}.{each}" for each in BRANCHES}:
        return BadInput(fault.path, "a next node is required", "missing_branch")
    if fault.code == "unknown_verb" and fault.path == f"{path}.type":
        return BadInput(fault.path, fault.message, "unknown_node_type")
    return fault


def _check_verb(node: Node, limits: Limits, path: str) -> Iterator[BadInput]:
    try:
        check_node(node, limits, path)
    except BadInput as fault:
        yield from errors_in(fault)
    verb = node.verb
    if isinstance(verb, Gather) and verb.data.fallback is not None:
        yield BadInput(f"{path}.data.fallback", "not in a flow: a menu has noInput")
    if isinstance(verb, Dial) and verb.data.flow_id is not None:
        yield BadInput(f"{path}.data.flowId", "not in a flow: use a node of type flow")


def _call_only_nodes(nodes: Mapping[str, Node]) -> Iterator[BadInput]:
    for name, node in nodes.items():
        if node.needs_call:
            text = "only in flows of calls; a flow of kind message has say, set, condition,"
            yield BadInput(f"nodes.{name}.type", f"{text} goto, request and flow", "needs_a_call")


def _unknown_requests(nodes: Mapping[str, Node], apis: ApiRequests) -> Iterator[BadInput]:
    for name, node in nodes.items():
        if isinstance(node, RequestNode) and node.data.api not in apis:
            text = f"no API request {node.data.request_id}"
            yield BadInput(f"nodes.{name}.data.requestId", text, "unknown_request")


def _values(nodes: Any) -> list[Any]:
    return list(nodes.values()) if isinstance(nodes, dict) else []
