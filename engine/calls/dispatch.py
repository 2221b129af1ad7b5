"""Each state's own part of a step: an event moves what the call does, and it goes on from there."""

from engine.calls.model.call import Call, Step
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
from engine.calls.running import settled
from engine.calls.sessions import conversation
from engine.calls.verbs import dial, hangup, instructions, record, setup, single_leg


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
