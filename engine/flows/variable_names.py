"""Checks the variable names that a flow uses in templates and conditions."""

from collections import deque
from collections.abc import Container, Iterator, Mapping
from typing import Any

from msgspec import Struct

from engine.calls.flows.templates import is_name, names, unclosed
from engine.flows.graph import Nodes, edges
from wire.decoding.errors import BadInput
from wire.flow import ConditionNode, GotoNode, MenuNode, Node, RequestNode, SetNode, VerbNode
from wire.request import ApiRequest
from wire.verbs import ANY_VARIABLE

ApiRequests = Mapping[str, ApiRequest]
CALL_NAMES = frozenset(
    f"call.{each}"
    for each in (
        "id",
        "from",
        "to",
        "direction",
        "channelId",
        "privacy",
        "callerName",
        "divertedFrom",
    )
)


def undefined_names(
    start: str, nodes: Nodes, raw: Mapping[str, Any], inputs: tuple[str, ...], apis: ApiRequests
) -> Iterator[BadInput]:
    """Report the variables that no path to a node sets before the node uses them."""
    before = _defined_before(start, nodes, frozenset(f"vars.{name}" for name in inputs), apis)
    for name, node in nodes.items():
        defined = before.get(name, frozenset[str]())
        for field, used, user in _used_names(node, raw[name], apis):
            if why := _fault(used, defined):
                path = f"nodes.{name}.{field}"
                yield BadInput(path, f"{user}{{{{{used}}}}} {why}", "unknown_variable")


def unknown_names(document: Any) -> Iterator[BadInput]:
    """Report the names in a tree that no call has; the flow around it may set any variable."""
    for path, name in names(document):
        if why := _fault(name, frozenset({ANY_VARIABLE})):
            yield BadInput(path, f"{{{{{name}}}}} {why}", "unknown_variable")


def unclosed_templates(document: Any) -> Iterator[BadInput]:
    """Report the templates whose closing braces are missing; they would be spoken as written."""
    for path in unclosed(document):
        yield BadInput(path, "{{ without }} after it", "unclosed_template")


def _fault(used: str, defined: Container[str]) -> str:
    root = used.partition(".")[0]
    if not is_name(used) or root in {"event", "secrets"}:
        return "is not a variable name"
    if root in {"contact", "custom"} or used in CALL_NAMES or used in defined:
        return ""
    if root == "call":
        return f"is not a property of a call; one of {', '.join(sorted(CALL_NAMES))}"
    return "" if ANY_VARIABLE in defined else "is not set on any path to this node"


def _used_names(node: Node, raw: Any, apis: ApiRequests) -> Iterator[tuple[str, str, str]]:
    for field, name in names(raw):
        yield field, name, ""
    if isinstance(node, ConditionNode):
        for index, case in enumerate(node.cases):
            yield f"cases[{index}].variable", case.variable, ""
    if isinstance(node, RequestNode) and node.data.api in apis:
        request = apis[node.data.api]
        for name in sorted(names_of(request)):
            if not name.startswith("secrets."):
                yield "data.requestId", name, "the request uses "


def names_of(request: ApiRequest) -> set[str]:
    """Return the variable names that an API request uses."""
    parts = (request.url, request.headers, request.json, request.text)
    return {name for part in parts for _, name in names(part)}


def _names_set_by(name: str, node: Node, apis: ApiRequests) -> frozenset[str]:
    match node:
        case SetNode(variables=variables):
            return frozenset(f"vars.{each}" for each in variables)
        case RequestNode(data=data):
            request = apis.get(data.api)
            if request is None:
                return frozenset({ANY_VARIABLE})  # the missing request is reported elsewhere
            return frozenset(f"answers.{name}.{e}" for e in (*request.answers, "status", "reason"))
        case VerbNode() | MenuNode() | ConditionNode() | GotoNode():
            return frozenset(node.results)


class _NameSet(Struct, frozen=True):
    """Names as bits of a number: a flow may set thousands, and each node has such a set."""

    bits: Mapping[str, int]
    mask: int

    def __contains__(self, name: object) -> bool:
        return bool(self.mask & self.bits.get(str(name), 0))


def _defined_before(
    start: str, nodes: Nodes, inputs: frozenset[str], apis: ApiRequests
) -> dict[str, _NameSet]:
    """Return, for each reachable node, the names that any path to it may set."""
    sets = {name: _names_set_by(name, node, apis) for name, node in nodes.items()}
    bits = {name: 1 << place for place, name in enumerate(inputs.union(*sets.values()))}
    masks = {name: sum(bits[each] for each in found) for name, found in sets.items()}
    graph, before = edges(nodes), {start: sum(bits[each] for each in inputs)}
    left = deque([start])
    while left:
        name = left.popleft()
        after = before[name] | masks[name]
        for target in graph[name]:
            known = before.get(target)
            if known is None or after & ~known:
                before[target] = after | (known or 0)
                left.append(target)
    return {name: _NameSet(bits, mask) for name, mask in before.items()}
