"""flow: run a stored flow; a tree is answered like a webhook's, a graph runs node by node.

While a graph runs, its frame is on top of what comes after. A node is read, filled in and checked
outside, told by an event, and runs like a verb of a tree; when nothing of it is left, the frame
says where its exit leads.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from engine.calls.flows.conditions import holds
from engine.calls.flows.nodes import exits, verb_of
from engine.calls.flows.variables import kept, results, value_of
from engine.calls.model.call import Call, Frame, Step, numbered
from engine.calls.model.io_commands import AskApi, LoadFlow, LoadNode
from engine.calls.model.io_results import ApiAnswered, ApiFailed, FlowEntered, NodeLoaded
from engine.calls.model.state import Asking, Next
from engine.calls.verbs import hangup
from wire.flow import ConditionNode, GotoNode, Node, RequestNode, Scalar, SetNode

FLOW_MS = 5_000
API_MS = 17_000  # the longest of a request, 15 s, and a little for our own way
MOST_VISITS = 100  # of one node: a flow that goes round for ever ends here, loudly

Told = FlowEntered | NodeLoaded | ApiAnswered | ApiFailed


def start(call: Call, flow_id: str, now: int) -> Step:
    """Read a stored flow."""
    call, request = numbered(call, "r")
    return replace(call, doing=Asking(request, now + FLOW_MS)), (LoadFlow(request, flow_id),)


def on_told(call: Call, event: Told, now: int) -> Step:
    """Take what was waited for: run a node, or go on to the next."""
    if isinstance(event, NodeLoaded):
        return _run(call, _frame(call), event.node, now)
    return replace(noted(call, event), doing=Next(None, "flow")), ()


def noted(call: Call, event: Told) -> Call:
    """Take what was waited for, for when the call comes to it: after a conversation, say."""
    match event:
        case FlowEntered(flow_id=flow_id, version=version, start=first):
            frame = Frame(flow_id, version, "", (("next", first),))
            return replace(call, rest=(frame, *call.rest))
        case NodeLoaded(name=name):
            return _pinned(call, name)
        case ApiAnswered(status=status, values=values):
            return _answered(call, status, values)
        case ApiFailed(reason=reason, status=status):
            return failed(call, reason, status)


def failed(call: Call, reason: str, status: int = 0) -> Call:
    """Take the way of a request that was not answered well."""
    known = kept(call, _answers(call, {"status": status, "reason": reason}))
    return _pinned(known or call, _frame(call).exit("failure"))


def left(call: Call, frame: Frame, after: Next, now: int) -> Step:
    """Go on from a node that has ended, with what it brought."""
    known = kept(call, results(call, after))
    if known is None:
        return _too_many(call, "too_many_variables", now)
    return _to(known, frame, _exit(frame, after), now)


def _exit(frame: Frame, after: Next) -> str | None:
    if frame.exit("noInput") is None:
        return frame.exit("next")
    if not after.digits:
        return frame.exit("noInput")
    return frame.exit(f"branches.{after.digits}") or frame.exit("invalid")


def _to(call: Call, frame: Frame, node: str | None, now: int) -> Step:
    """Read the next node; without one the flow has ended."""
    if node is None:
        return replace(call, rest=call.rest[1:], doing=Next(None, "flow")), ()
    call, visits = _visited(call, f"{frame.flow_id}#{node}")
    if visits > MOST_VISITS:
        return _too_many(call, "too_many_loops", now)
    call, request = numbered(call, "r")
    at = Frame(frame.flow_id, frame.version, node)
    call = replace(call, rest=(at, *call.rest[1:]), doing=Asking(request, now + FLOW_MS))
    return call, (LoadNode(request, frame.flow_id, frame.version, node),)


def _run(call: Call, frame: Frame, node: Node, now: int) -> Step:
    frame = replace(frame, exits=exits(node))
    call = replace(call, rest=(frame, *call.rest[1:]))
    match node:
        case ConditionNode():
            return _to(call, frame, _chosen(call, node), now)
        case SetNode(variables=variables):
            known = kept(call, {f"vars.{name}": each for name, each in variables.items()})
            if known is None:
                return _too_many(call, "too_many_variables", now)
            return _to(known, frame, node.next, now)
        case GotoNode():
            return _jumped(call, frame, node, now)
        case RequestNode(data=data):
            call, request = numbered(call, "r")
            asking = Asking(request, now + API_MS, is_api=True, has_music=data.moh.enable)
            return replace(call, doing=asking), (AskApi(request, data.api),)
        case _:
            return replace(call, doing=Next(verb_of(node), "flow")), ()


def _chosen(call: Call, node: ConditionNode) -> str:
    held = (each.next for each in node.cases if holds(each, value_of(call, each.variable)))
    return next(held, node.else_)


def _jumped(call: Call, frame: Frame, node: GotoNode, now: int) -> Step:
    if call.visits[f"{frame.flow_id}#{frame.node}"] <= node.limit:
        return _to(call, frame, node.node, now)
    if node.next is None:
        return _too_many(call, "too_many_loops", now)
    return _to(call, frame, node.next, now)


def _answered(call: Call, status: int, values: Mapping[str, Scalar | None]) -> Call:
    known = kept(call, _answers(call, {**values, "status": status}))
    if known is None:
        return failed(call, "too_many_variables", status)
    return _pinned(known, _frame(call).exit("success"))


def _answers(call: Call, values: Mapping[str, Scalar | None]) -> dict[str, Scalar | None]:
    """Name what a request brought, in place of what the same node's brought before."""
    prefix = f"answers.{_frame(call).node}."
    before = dict.fromkeys(name for name in call.variables if name.startswith(prefix))
    return before | {prefix + name: value for name, value in values.items()}


def _visited(call: Call, place: str) -> tuple[Call, int]:
    visits = call.visits.get(place, 0) + 1
    return replace(call, visits={**call.visits, place: visits}), visits


def _pinned(call: Call, node: str | None) -> Call:
    """Leave the frame one exit."""
    only = (("next", node),) if node is not None else ()
    return replace(call, rest=(replace(_frame(call), exits=only), *call.rest[1:]))


def _frame(call: Call) -> Frame:
    frame = call.rest[0]
    assert isinstance(frame, Frame), frame  # noqa: S101 - narrows for mypy; we put it there
    return frame


def _too_many(call: Call, reason: str, now: int) -> Step:
    return hangup.start(replace(call, reason=reason), now, "system")
