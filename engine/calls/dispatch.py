"""Each state's own part of a step: an event moves what the call does, and it goes on from there."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Frame, Step
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.model.state import (
    Asking,
    Detecting,
    Dialing,
    Ending,
    Filing,
    Gathering,
    Next,
    Over,
    Playing,
    Recording,
    Starting,
    Talking,
)
from engine.calls.sessions import conversation
from engine.calls.verbs import dial, flow, hangup, instructions, record, setup, single_leg
from wire import verbs
from wire.verbs import Action, Verb


def carried_on(call: Call, before: tuple[Command, ...], event: Event, now: int) -> Step:
    """Move what a call does, then run what comes next; `before` is what is wanted already."""
    call, commands = _moved(call, event, now)
    return settled(call, (*before, *commands), now)


def _moved(call: Call, event: Event, now: int) -> Step:
    match call.doing:
        case Playing() | Gathering() | Detecting() as doing:
            return single_leg.on_event(call, doing, event, now)
        case Recording() as doing:
            return record.on_event(call, doing, event, now)
        case Asking() as doing:
            return instructions.on_event(call, doing, event, now)
        case Dialing() as doing:
            return dial.on_ringing(call, doing, event, now)
        case Talking() as doing:
            return conversation.on_event(call, doing, event, now)
        case Starting() as doing:
            return setup.on_event(call, doing, event, now)
        case Ending() as doing:
            return hangup.on_event(call, doing, event, now)
        case Filing():
            return hangup.on_filing(call, event, now)
        case Next() | Over():
            return call, ()


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
