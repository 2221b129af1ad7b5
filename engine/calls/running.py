"""Running the tree: one verb after another, until one waits or nothing is left."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step
from engine.calls.model.commands import Command
from engine.calls.model.frame import Frame
from engine.calls.model.state import Next
from engine.calls.verbs import dial, flow, hangup, instructions, record, single_leg
from wire import verbs
from wire.verbs import Action, Verb

MOST_VERBS = 1_000  # a webhook that answers for ever ends here, loudly
MOST_FLOWS = 50  # so does a flow that runs itself: each waits for the one within


def settled(call: Call, commands: tuple[Command, ...], now: int) -> Step:
    """Begin what comes next, until something waits."""
    while isinstance(call.doing, Next):
        call, more = _begin(call, call.doing, now)
        commands = (*commands, *more)
    return call, commands


def _begin(call: Call, after: Next, now: int) -> Step:
    if call.verbs >= MOST_VERBS:
        return hangup.start(replace(call, reason="too_many_verbs"), now, "system")
    call = replace(call, verbs=call.verbs + 1)
    match after.action:
        case None if call.rest:
            return _go_on(call, call.rest[0], after, now)
        case None:
            return hangup.start(call, now, "action")
        case str(url):
            return instructions.start_url(call, url, after, now)
        case verb:
            return _run(call, verb, now)


def _go_on(call: Call, following: Action | Frame, after: Next, now: int) -> Step:
    if isinstance(following, Frame):
        return flow.left(call, following, after, now)
    return replace(call, doing=Next(following, "flow"), rest=call.rest[1:]), ()


def _run(call: Call, verb: Verb, now: int) -> Step:
    match verb:
        case verbs.Play() | verbs.Say() | verbs.Gather():
            return single_leg.start(call, verb, now)
        case verbs.Record():
            return record.start(call, verb, now)
        case verbs.Flow(data=data):
            return _run_flow(call, data.flow_id, verb.action, now)
        case verbs.Dial(data=data) if data.flow_id is not None:
            return _run_flow(call, data.flow_id, verb.action, now)
        case verbs.Dial():
            return dial.start(call, verb, now)
        case verbs.Hangup():
            return hangup.start(call, now, "action")


def _run_flow(call: Call, flow_id: str, action: Action | None, now: int) -> Step:
    if len(call.rest) >= MOST_FLOWS:
        return hangup.start(replace(call, reason="too_many_flows"), now, "system")
    if action is not None:
        call = replace(call, rest=(action, *call.rest))
    return flow.start(call, flow_id, now)
