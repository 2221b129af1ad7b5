"""A flow as a graph: where it leads nowhere, what nobody comes to, where it turns in circles."""

from collections.abc import Collection, Iterator, Mapping

from engine.calls.flows.nodes import exits
from wire.errors import BadInput
from wire.flow import (
    DialNode,
    FlowNode,
    GatherNode,
    MenuNode,
    Node,
    RecordNode,
    RequestNode,
)

Nodes = Mapping[str, Node]
Edges = dict[str, tuple[str, ...]]
# These wait for somebody: for a caller, a party, a server; a flow within may.
_WAITING = (GatherNode, MenuNode, RecordNode, DialNode, RequestNode, FlowNode)


def unknown_targets(start: str, names: Collection[str], nodes: Nodes) -> Iterator[BadInput]:
    """Name the edges to nodes that are not there."""
    if start not in names:
        yield BadInput("start", f"no node {start}", "unknown_node")
    for name, node in nodes.items():
        for field, target in exits(node):
            if target not in names:
                yield BadInput(f"nodes.{name}.{field}", f"no node {target}", "unknown_node")


def edges(nodes: Nodes) -> Edges:
    """List where each node leads, as far as that is there."""
    return {
        name: tuple(dict.fromkeys(target for _, target in exits(node) if target in nodes))
        for name, node in nodes.items()
    }


def unreachable_nodes(start: str, nodes: Nodes) -> Iterator[BadInput]:
    """Name the nodes that no way from the start comes to."""
    leads, found, left = edges(nodes), set[str](), [start]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += leads.get(name, ())
    for name in nodes:
        if name not in found:
            yield BadInput(f"nodes.{name}", "no node leads here", "unreachable_node")


def cycles(nodes: Nodes) -> Iterator[BadInput]:
    """Name the circles in which nothing waits for anybody: they would turn without a pause."""
    leads = edges({name: node for name, node in nodes.items() if not isinstance(node, _WAITING)})
    while leads := _without_dead_ends(leads):
        circle = _find_cycle(leads)
        path = " → ".join([*circle, circle[0]])
        text = f"a circle without input: {path}; put a menu, gather, record, dial or request in"
        yield BadInput(f"nodes.{circle[0]}", text, "cycle_without_input")
        leads = {name: targets for name, targets in leads.items() if name not in circle}


def _without_dead_ends(leads: Edges) -> Edges:
    """Take out what leads nowhere, again and again: what is left leads into a circle."""
    while True:
        left = {name: tuple(t for t in targets if t in leads) for name, targets in leads.items()}
        left = {name: targets for name, targets in left.items() if targets}
        if left == leads:
            return left
        leads = left


def _find_cycle(leads: Edges) -> list[str]:
    walked = [next(iter(leads))]
    while (following := leads[walked[-1]][0]) not in walked:
        walked.append(following)
    return walked[walked.index(following) :]
