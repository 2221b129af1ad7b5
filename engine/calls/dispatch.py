"""Dispatches an event to the call's state, then starts verbs until one waits."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Frame, Step
from engine.calls.model.call_states import Advance, ArchivingRecordings, Bridged, Ended, Ending
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.sessions import conversation
from engine.calls.verbs import awaiting_instructions, flow, hangup, registry
from wire.verbs import Action

MAX_VERBS = 1_000  # ends a call whose webhook always returns another action


def dispatch(call: Call, before: tuple[Command, ...], event: Event, now: int) -> Step:
    """Let the state react to an event, then run what is next; `before` are earlier commands."""
    call, commands = _on_event(call, event, now)
    return run_until_waiting(call, (*before, *commands), now)


def _on_event(call: Call, event: Event, now: int) -> Step:
    match call.state:
        case Bridged() as state:
            return conversation.on_event(call, state, event, now)
        case Ending() as state:
            return hangup.on_event(call, state, event, now)
        case ArchivingRecordings():
            return hangup.on_archiving(call, event, now)
        case Advance() | Ended():
            return call, ()
        case state:
            return registry.on_event(call, state, event, now)


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
            return awaiting_instructions.start_url(call, url, advance, now)
        case verb:
            return registry.start(call, verb, now)


def _continue(call: Call, top: Action | Frame, advance: Advance, now: int) -> Step:
    if isinstance(top, Frame):
        return flow.advance(call, top, advance, now)
    return replace(call, state=Advance(top, "flow"), continuation=call.continuation[1:]), ()
