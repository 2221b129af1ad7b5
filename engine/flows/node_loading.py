"""Loads a node of a flow: fills in its templates, and leaves out values that do not fit.

Values are known only during a call, which goes on without those that do not fit: such as a text
that is empty, or a number that is none.
"""

import re
from typing import Any

from engine.calls.flows.templates import Lookup, fill_decoded, to_text
from engine.calls.model.io_commands import LoadFlowNode
from engine.calls.model.io_results import FlowNodeLoaded
from engine.flows.document import check_node, convert_node
from engine.flows.samples import node_with_samples
from wire.base import tag_of
from wire.custom_data import MAX_BYTES
from wire.decoding.errors import BadInput, errors_in
from wire.flow import ConditionNode, FlowOutline, Node, SetNode
from wire.media import MediaFault
from wire.tree import Limits
from wire.verbs import Dial

_TYPED = frozenset(
    {tag_of(SetNode), tag_of(ConditionNode)}
)  # in these a template may stand for a number
_NOT_EMPTY = ("number", "text", "audioUrl")  # an empty text means more than that it is absent
_PROMPT = re.compile(r"\.data\.(text|audioUrl|voice|language)\b")
_ITEM = re.compile(r"(.+)\[(\d+)\]")
_STEP = re.compile(r"[^.\[\]]+")
_INTEGERS = range(-(2**63), 2**63)


def load_node(
    command: LoadFlowNode, outline: FlowOutline, values: Lookup, limits: Limits
) -> FlowNodeLoaded:
    """Return a node with its templates filled in; raises BadInput with the node's path."""
    name, raw = command.node, outline.nodes[command.node]
    path = f"nodes.{name}"
    node, faults = _filled(raw, values, limits, path)
    is_skipped = node is None
    if node is None:
        node = convert_node(node_with_samples(raw), path)
        if node.verb is None:  # it would lead the call astray
            raise faults[0]
    failed = tuple(
        MediaFault(each.path, "invalid")
        for each in faults
        if _PROMPT.match(each.path.removeprefix(path))
    )
    return FlowNodeLoaded(command.request, name, node, tuple(map(str, faults)), failed, is_skipped)


def _filled(
    raw: dict[str, Any], values: Lookup, limits: Limits, path: str
) -> tuple[Node | None, list[BadInput]]:
    """Return the node, or None if it can't run, and the faults of values that are left out."""
    try:
        document = _fill(raw, values)
    except BadInput as error:
        return None, [BadInput(path, error.message, error.code)]
    faults = list(_drop_empty(document, raw, path))
    node = None
    while node is None:
        try:
            node = check_node(convert_node(document, path), limits, path)
        except BadInput as error:
            for fault in _last_faults(error):
                is_there, is_dropped = _drop(document, fault.path.removeprefix(path))
                if is_there or not faults:
                    faults.append(fault)
                if not is_dropped:
                    return None, faults
    verb = node.verb
    if isinstance(verb, Dial) and raw["data"].get("number") and verb.data.number is None:
        return None, faults  # its agent is only named
    return node, faults


def _last_faults(error: BadInput) -> list[BadInput]:
    """Return the last fault, and those of other items of its list, the last item first.

    Together, because the node is checked again without them.
    """
    *_, last = faults = errors_in(error)
    item = _ITEM.fullmatch(last.path)
    if item is None:
        return [last]
    found = [(match, each) for each in faults if (match := _ITEM.fullmatch(each.path))]
    items = {int(match[2]): each for match, each in found if match[1] == item[1]}
    return [items[index] for index in sorted(items, reverse=True)]


def _fill(raw: dict[str, Any], values: Lookup) -> Any:
    if raw.get("type") not in _TYPED:
        return fill_decoded(raw, values)
    document = fill_decoded(raw, lambda name: _scalar(values(name)), typed=True)
    for case in document.get("cases", ()):
        if isinstance(case.get("value"), str):
            case["value"] = case["value"][: MAX_BYTES + 1]  # longer than any compared value
    return document


def _scalar(value: Any) -> Any:
    """Return a value that can be stored and compared; objects, lists and large numbers are text."""
    is_large = isinstance(value, int) and value not in _INTEGERS
    return to_text(value) if isinstance(value, dict | list) or is_large else value


def _drop_empty(document: Any, raw: dict[str, Any], path: str) -> list[BadInput]:
    """Remove what has become empty, and return its faults."""
    data, written = document.get("data"), raw.get("data")
    if not isinstance(data, dict) or not isinstance(written, dict):
        return []
    empty = [each for each in _NOT_EMPTY if data.get(each) == "" and written[each]]
    for each in empty:
        del data[each]
    return [BadInput(f"{path}.data.{each}", "empty once filled in") for each in empty]


def _drop(document: Any, path: str) -> tuple[bool, bool]:
    """Remove the value at a path, or what lacks it; return whether it was there, and removed.

    The node's data is not removed.
    """
    steps = _STEP.findall(path)
    holders, keys = [document], list[Any]()
    for step in steps:
        holder = holders[-1]
        key = int(step) if isinstance(holder, list) else step
        if isinstance(holder, dict) and key not in holder:
            break
        holders.append(holder[key])
        keys.append(key)
    is_there = len(keys) == len(steps)
    if len(keys) < 2:  # noqa: PLR2004 - `data`, and a field of it
        return is_there, False
    del holders[len(keys) - 1][keys[-1]]
    return is_there, True
