"""Dispatches an event to the call's state, then starts verbs until one waits."""

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

MAX_VERBS = 1_000  # ends a call whose webhook always returns another action
MAX_FLOWS = 50  # nested flows; ends a call whose flow runs itself


def dispatch(call: Call, before: tuple[Command, ...], event: Event, now: int) -> Step:
    """Let the state react to an event, then run what is next; `before` are earlier commands."""
    call, commands = _on_event(call, event, now)
    return run_until_waiting(call, (*before, *commands), now)


def _on_event(call: Call, event: Event, now: int) -> Step:
    match call.state:
        case Playing() | Gathering() | Detecting() as state:
            return single_leg.on_event(call, state, event, now)
        case RecordingVoicemail() as state:
            return record.on_event(call, state, event, now)
        case AwaitingInstructions() as state:
            return instructions.on_event(call, state, event, now)
        case Dialing() as state:
            return dial.on_event(call, state, event, now)
        case Bridged() as state:
            return conversation.on_event(call, state, event, now)
        case Starting() as state:
            return setup.on_event(call, state, event, now)
        case Ending() as state:
            return hangup.on_event(call, state, event, now)
        case ArchivingRecordings():
            return hangup.on_archiving(call, event, now)
        case Advance() | Ended():
            return call, ()


def run_until_waiting(call: Call, commands: tuple[Command, ...], now: int) -> Step:
    """Start what is next until a state waits; `commands` are earlier commands."""
    while isinstance(call.state, Advance):
        call, more = _start_next(call, call.state, now)
        commands = (*commands, *more)
    return call, commands


def _start_next(call: Call, advance: Advance, now: int) -> Step:
    if call.verbs_started >= MAX_VERBS:
        return hangup.start(replace(call, reason="too_many_verbs"), now, "system")
    call = replace(call, verbs_started=call.verbs_started + 1)
    match advance.action:
        case None if call.continuation:
            return _continue(call, call.continuation[0], advance, now)
        case None:
            return hangup.start(call, now, "action")
        case str(url):
            return instructions.start_url(call, url, advance, now)
        case verb:
            return _start_verb(call, verb, now)


def _continue(call: Call, top: Action | Frame, advance: Advance, now: int) -> Step:
    if isinstance(top, Frame):
        return flow.advance(call, top, advance, now)
    return replace(call, state=Advance(top, "flow"), continuation=call.continuation[1:]), ()


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
