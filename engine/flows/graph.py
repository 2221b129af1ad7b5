"""Checks a flow's graph: edges to missing nodes, unreachable nodes, cycles without input."""

from collections.abc import Collection, Iterator, Mapping

from wire.decoding.errors import BadInput
from wire.flow import Node

Nodes = Mapping[str, Node]
Edges = dict[str, tuple[str, ...]]


def unknown_targets(start: str, names: Collection[str], nodes: Nodes) -> Iterator[BadInput]:
    """Report the edges to nodes that do not exist."""
    if start not in names:
        yield BadInput("start", f"no node {start}", "unknown_node")
    for name, node in nodes.items():
        for field, target in node.exits:
            if target not in names:
                yield BadInput(f"nodes.{name}.{field}", f"no node {target}", "unknown_node")


def edges(nodes: Nodes) -> Edges:
    """Return each node's existing targets."""
    return {
        name: tuple(dict.fromkeys(target for _, target in node.exits if target in nodes))
        for name, node in nodes.items()
    }


def unreachable_nodes(start: str, nodes: Nodes) -> Iterator[BadInput]:
    """Report the nodes that can't be reached from the start."""
    targets, found, left = edges(nodes), set[str](), [start]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += targets.get(name, ())
    for name in nodes:
        if name not in found:
            yield BadInput(f"nodes.{name}", "no node leads here", "unreachable_node")


def cycles(nodes: Nodes) -> Iterator[BadInput]:
    """Report the cycles without a waiting node: they would run without a pause."""
    graph = edges({name: node for name, node in nodes.items() if not node.waits})
    while graph := _without_dead_ends(graph):
        cycle = _find_cycle(graph)
        path = " → ".join([*cycle, cycle[0]])
        text = f"a cycle without input: {path}; add a menu, gather, record, dial or request node"
        yield BadInput(f"nodes.{cycle[0]}", text, "cycle_without_input")
        graph = {name: targets for name, targets in graph.items() if name not in cycle}


def _without_dead_ends(graph: Edges) -> Edges:
    """Remove dead ends until only nodes that lead into a cycle remain."""
    while True:
        left = {name: tuple(t for t in targets if t in graph) for name, targets in graph.items()}
        left = {name: targets for name, targets in left.items() if targets}
        if left == graph:
            return left
        graph = left


def _find_cycle(graph: Edges) -> list[str]:
    walked = [next(iter(graph))]
    while (following := graph[walked[-1]][0]) not in walked:
        walked.append(following)
    return walked[walked.index(following) :]
