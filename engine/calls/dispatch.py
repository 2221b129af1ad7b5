"""Each state's own part of a step: an event moves what the call does, and it goes on from there."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Frame, Step
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.model.state import (
    Advance,
    ArchivingRecordings,
    AwaitingInstructions,
    Bridged,
    Detecting,
    Dialing,
    Ended,
    Ending,
    Gathering,
    Playing,
    RecordingVoicemail,
    Starting,
)
from engine.calls.sessions import conversation
from engine.calls.verbs import dial, flow, hangup, instructions, record, setup, single_leg
from wire import verbs
from wire.verbs import Action, Verb


def dispatch(call: Call, before: tuple[Command, ...], event: Event, now: int) -> Step:
    """Move what a call does, then run what comes next; `before` is what is wanted already."""
    call, commands = _on_event(call, event, now)
    return run_until_waiting(call, (*before, *commands), now)


def _on_event(call: Call, event: Event, now: int) -> Step:
    match call.state:
        case Playing() | Gathering() | Detecting() as doing:
            return single_leg.on_event(call, doing, event, now)
        case RecordingVoicemail() as doing:
            return record.on_event(call, doing, event, now)
        case AwaitingInstructions() as doing:
            return instructions.on_event(call, doing, event, now)
        case Dialing() as doing:
            return dial.on_event(call, doing, event, now)
        case Bridged() as doing:
            return conversation.on_event(call, doing, event, now)
        case Starting() as doing:
            return setup.on_event(call, doing, event, now)
        case Ending() as doing:
            return hangup.on_event(call, doing, event, now)
        case ArchivingRecordings():
            return hangup.on_archiving(call, event, now)
        case Advance() | Ended():
            return call, ()


MAX_VERBS = 1_000  # a webhook that answers for ever ends here, loudly
MAX_FLOWS = 50  # so does a flow that runs itself: each waits for the one within


def run_until_waiting(call: Call, commands: tuple[Command, ...], now: int) -> Step:
    """Begin what comes next, until something waits."""
    while isinstance(call.state, Advance):
        call, more = _start_next(call, call.state, now)
        commands = (*commands, *more)
    return call, commands


def _start_next(call: Call, after: Advance, now: int) -> Step:
    if call.verbs_started >= MAX_VERBS:
        return hangup.start(replace(call, reason="too_many_verbs"), now, "system")
    call = replace(call, verbs_started=call.verbs_started + 1)
    match after.action:
        case None if call.continuation:
            return _continue(call, call.continuation[0], after, now)
        case None:
            return hangup.start(call, now, "action")
        case str(url):
            return instructions.start_url(call, url, after, now)
        case verb:
            return _start_verb(call, verb, now)


def _continue(call: Call, following: Action | Frame, after: Advance, now: int) -> Step:
    if isinstance(following, Frame):
        return flow.advance(call, following, after, now)
    return replace(call, state=Advance(following, "flow"), continuation=call.continuation[1:]), ()


def _start_verb(call: Call, verb: Verb, now: int) -> Step:
    match verb:
        case verbs.Play() | verbs.Say() | verbs.Gather():
            return single_leg.start(call, verb, now)
        case verbs.Record():
            return record.start(call, verb, now)
        case verbs.Flow(data=data):
            return _start_flow(call, data.flow_id, verb.action, now)
        case verbs.Dial(data=data) if data.flow_id is not None:
            return _start_flow(call, data.flow_id, verb.action, now)
        case verbs.Dial():
            return dial.start(call, verb, now)
        case verbs.Hangup():
            return hangup.start(call, now, "action")


def _start_flow(call: Call, flow_id: str, action: Action | None, now: int) -> Step:
    if len(call.continuation) >= MAX_FLOWS:
        return hangup.start(replace(call, reason="too_many_flows"), now, "system")
    if action is not None:
        call = replace(call, continuation=(action, *call.continuation))
    return flow.start(call, flow_id, now)
