"""flow: runs a stored flow; an action tree runs like a webhook's, a graph runs node by node.

While a graph runs, its frame is on top of the call's continuation. The engine loads, fills in and
checks each node, FlowNodeLoaded delivers it, and it runs like a verb of a tree. When it has ended,
the frame's exits lead to the next node. A node that values which were filled in keep from running
has failed: it leads where it leads when its audio cannot be played, or its party is not reached.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from engine.calls.flows.conditions import Compared, holds
from engine.calls.flows.variables import set_variables, value_of, verb_results
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.call_states import Advance, AwaitingInstructions, Bridged, CallState
from engine.calls.model.continuation import Frame
from engine.calls.model.io_commands import LoadFlow, LoadFlowNode, SendApiRequest
from engine.calls.model.io_results import (
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
)
from engine.calls.verbs import call_end
from engine.calls.verbs.media_faults import report, run_instead
from wire.flow import ConditionNode, GotoNode, MenuNode, RequestNode, Scalar, SetNode, VerbNode
from wire.verbs import AudibleVerb, Dial, Stream, Verb
from wire.webhooks import DialResult

LOAD_TIMEOUT_MS = 5_000
API_TIMEOUT_MS = 17_000  # the request's own limit, 15 s, and a margin for the engine
MAX_VISITS = 100  # of one node; ends a call whose flow loops forever

FlowResult = FlowStarted | FlowNodeLoaded | ApiRequestSucceeded | ApiRequestFailed


def start(call: Call, flow_id: str, now: int) -> Step:
    """Load a stored flow."""
    call, request = allocate_id(call, "r")
    fallback = next((each.fallback for each in call.continuation if isinstance(each, Frame)), None)
    awaiting = AwaitingInstructions(request, now + LOAD_TIMEOUT_MS, fallback, is_flow=True)
    return replace(call, state=awaiting), (LoadFlow(request, flow_id),)


def on_result(call: Call, event: FlowResult, now: int) -> Step:
    """Run the node that was loaded, or advance to the next."""
    if isinstance(event, FlowNodeLoaded):
        call, reports = report(call, call.main, event.failed, now)
        call, commands = _run_node(call, _frame(call), event, now)
        return call, (*reports, *commands)
    return replace(apply_result(call, event), state=Advance(None, "flow")), ()


def apply_result(call: Call, event: FlowResult) -> Call:
    """Store a result in the continuation, for a call that may be in a conversation now."""
    match event:
        case FlowStarted(flow_id=flow_id, version=version, start=start_node):
            frame = Frame(flow_id, version, "", (("next", start_node),), _fallback(call.state))
            return replace(call, continuation=(frame, *call.continuation))
        case FlowNodeLoaded(name=name):
            return _with_exit(call, name)
        case ApiRequestSucceeded(status=status, values=values):
            return _request_succeeded(call, status, values)
        case ApiRequestFailed(reason=reason, status=status):
            return fail_request(call, reason, status)


def fail_request(call: Call, reason: str, status: int = 0) -> Call:
    """Take the `failure` exit of a request node."""
    updated = set_variables(call, _answer_variables(call, {"status": status, "reason": reason}))
    return _with_exit(updated or call, _frame(call).exit("failure"))


def advance(call: Call, frame: Frame, ended: Advance, now: int) -> Step:
    """Store the results of a node that has ended, and enter the next."""
    updated = set_variables(call, verb_results(call, ended))
    if updated is None:
        return _abort(call, "too_many_variables", now)
    return _enter_node(updated, frame, _exit_of(frame, ended), now)


def has_next(call: Call) -> bool:
    """Return whether the top of the continuation is a flow whose node leads to another."""
    top = call.continuation[0] if call.continuation else None
    return isinstance(top, Frame) and top.exit("next") is not None


def _fallback(state: CallState) -> Verb | None:
    """Return the fallback of the flow that is awaited, perhaps during a conversation."""
    awaiting = state.awaiting if isinstance(state, Bridged) else state
    return awaiting.fallback if isinstance(awaiting, AwaitingInstructions) else None


def _exit_of(frame: Frame, ended: Advance) -> str | None:
    if ended.is_media_failed:
        return frame.exit("onError")
    if frame.exit("noInput") is None:
        return frame.exit("next")
    if not ended.digits:
        return frame.exit("noInput")
    return frame.exit(f"branches.{ended.digits}") or frame.exit("invalid")


def _enter_node(call: Call, frame: Frame, node: str | None, now: int) -> Step:
    """Load the next node; without one, the flow has ended."""
    if node is None:
        return replace(call, continuation=call.continuation[1:], state=Advance(None, "flow")), ()
    call, visits = _count_visit(call, f"{frame.flow_id}#{node}")
    if visits > MAX_VISITS:
        return _abort(call, "too_many_loops", now)
    call, request = allocate_id(call, "r")
    next_frame = Frame(frame.flow_id, frame.version, node, fallback=frame.fallback)
    call = replace(
        call,
        continuation=(next_frame, *call.continuation[1:]),
        state=AwaitingInstructions(request, now + LOAD_TIMEOUT_MS, frame.fallback),
    )
    return call, (LoadFlowNode(request, frame.flow_id, frame.version, node),)


def _run_node(call: Call, frame: Frame, loaded: FlowNodeLoaded, now: int) -> Step:
    node = loaded.node
    frame = replace(frame, exits=node.exits)
    call = replace(call, continuation=(frame, *call.continuation[1:]))
    if (instead := _instead(call, loaded)) is not None:
        return replace(call, state=instead), ()
    match node:
        case ConditionNode():
            return _lead_to(call, _matching_exit(call, node)), ()
        case SetNode(variables=variables):
            named = {f"vars.{name}": value for name, value in variables.items()}
            updated = set_variables(call, named)
            if updated is None:
                return _abort(call, "too_many_variables", now)
            return _lead_to(updated, node.next), ()
        case GotoNode():
            return _jump(call, frame, node, now)
        case RequestNode(data=data):
            call, request = allocate_id(call, "r")
            awaiting = AwaitingInstructions(
                request, now + API_TIMEOUT_MS, is_api=True, has_music=data.moh.enable
            )
            return replace(call, state=awaiting), (SendApiRequest(request, data.api),)
        case VerbNode() | MenuNode():
            return replace(call, state=Advance(node.verb, "flow")), ()


def _instead(call: Call, loaded: FlowNodeLoaded) -> Advance | None:
    """Return what runs instead of a node whose values do not fit; None: the node runs."""
    verb = loaded.node.verb
    if loaded.failed and isinstance(verb, AudibleVerb):
        on_error = run_instead(call, verb)
        if on_error is not None:
            return on_error
    if not loaded.is_skipped:
        return None
    match verb:
        case Dial():
            name = causes.reason(causes.INVALID_NUMBER)
            return Advance(None, "dial", DialResult("failed", causes.INVALID_NUMBER, reason=name))
        case Stream():
            return Advance(None, "stream", stream_reason="address-refused")
        case _:
            return Advance(None, "flow")


def _matching_exit(call: Call, node: ConditionNode) -> str:
    compared: dict[str, Compared] = {}  # a value may be as large as all custom data
    for case in node.cases:
        if case.variable not in compared:
            compared[case.variable] = Compared.of(value_of(call, case.variable))
        if holds(case, compared[case.variable]):
            return case.next
    return node.else_


def _jump(call: Call, frame: Frame, node: GotoNode, now: int) -> Step:
    if call.visits[f"{frame.flow_id}#{frame.node}"] <= node.limit:
        return _lead_to(call, node.node), ()
    if node.next is None:
        return _abort(call, "too_many_loops", now)
    return _lead_to(call, node.next), ()


def _lead_to(call: Call, node: str | None) -> Call:
    """End a node that only leads to another, like one with a verb: so it counts as a verb."""
    return replace(_with_exit(call, node), state=Advance(None, "flow"))


def _request_succeeded(call: Call, status: int, values: Mapping[str, Scalar | None]) -> Call:
    updated = set_variables(call, _answer_variables(call, {**values, "status": status}))
    if updated is None:
        return fail_request(call, "too_many_variables", status)
    return _with_exit(updated, _frame(call).exit("success"))


def _answer_variables(call: Call, values: Mapping[str, Scalar | None]) -> dict[str, Scalar | None]:
    """Return the variables of a request's values; those of the node's last request become None."""
    prefix = f"answers.{_frame(call).node}."
    cleared = dict.fromkeys(name for name in call.variables if name.startswith(prefix))
    return cleared | {prefix + name: value for name, value in values.items()}


def _count_visit(call: Call, node_key: str) -> tuple[Call, int]:
    visits = call.visits.get(node_key, 0) + 1
    return replace(call, visits={**call.visits, node_key: visits}), visits


def _with_exit(call: Call, node: str | None) -> Call:
    """Replace the frame's exits by one, to this node."""
    exits_ = (("next", node),) if node is not None else ()
    return replace(call, continuation=(replace(_frame(call), exits=exits_), *call.continuation[1:]))


def _frame(call: Call) -> Frame:
    frame = call.continuation[0]
    assert isinstance(frame, Frame), frame  # noqa: S101 - narrows for mypy; `_enter_node` pushed it
    return frame


def _abort(call: Call, reason: str, now: int) -> Step:
    return call_end.start(replace(call, reason=reason), now, "system")
