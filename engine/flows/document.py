"""Reads a stored flow: a graph of nodes, or a plain tree, which is a flow with one node."""

from typing import Any

from engine.calls.flows.templates import names
from engine.calls.verbs.audio_sources import audio_sources
from wire.decoding import lenient
from wire.decoding.json_errors import read_json
from wire.flow import FlowOutline, Node
from wire.media import Source
from wire.tree import Limits, check_action


def read_outline(body: bytes) -> FlowOutline | None:
    """Read a flow's graph; None when it is a tree. Raises BadInput."""
    document = read_json(body)
    if not is_graph(document):
        return None
    outline: FlowOutline = lenient.convert(document, FlowOutline)
    return outline


def why_not_runnable(flow_id: str, body: bytes | None) -> str | None:
    """Return why no call can run a stored flow; None if one can. Raises BadInput."""
    if body is None:
        return f"no flow {flow_id}"
    outline = read_outline(body)
    if outline is not None and outline.kind == "message":
        return f"flow {flow_id} is of kind message: no call can run it"
    return None


def is_graph(document: Any) -> bool:
    """Return whether the document is a graph; a tree's root is a verb or a URL and has a `type`."""
    return isinstance(document, dict) and "type" not in document


def static_prompts(outline: FlowOutline) -> tuple[Source, ...]:
    """Return the audio sources of all nodes without templates, for prefetching."""
    found: dict[Source, None] = {}
    for name, raw in outline.nodes.items():
        if next(names(raw), None) is None:
            found.update(dict.fromkeys(audio_sources(convert_node(raw, name).verb)))
    return tuple(found)


def convert_node(document: Any, path: str) -> Node:
    """Read a node without templates; raises BadInput."""
    node: Node = lenient.convert(document, Node, path)
    return node


def check_node(node: Node, limits: Limits, path: str) -> Node:
    """Check a node against its verb's rules: URLs, parties, depth. Raises BadInput."""
    if node.verb is not None:
        check_action(node.verb, limits, path)
    return node
