"""Each state's own part of a step: an event moves what the call does, and it goes on from there."""

from engine.calls.call import Call, Step
from engine.calls.commands import Command
from engine.calls.doing import (
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
from engine.calls.events import Event
from engine.calls.running import settled
from engine.calls.verbs import ask, begin, dial, end, record, solo, talk


def carried_on(call: Call, before: tuple[Command, ...], event: Event, now: int) -> Step:
    """Move what a call does, then run what comes next; `before` is what is wanted already."""
    call, commands = _moved(call, event, now)
    return settled(call, (*before, *commands), now)


def _moved(call: Call, event: Event, now: int) -> Step:
    match call.doing:
        case Playing() | Gathering() | Detecting() as doing:
            return solo.on_event(call, doing, event, now)
        case Recording() as doing:
            return record.on_event(call, doing, event, now)
        case Asking() as doing:
            return ask.on_event(call, doing, event, now)
        case Dialing() as doing:
            return dial.on_ringing(call, doing, event, now)
        case Talking() as doing:
            return talk.on_event(call, doing, event, now)
        case Starting() as doing:
            return begin.on_event(call, doing, event, now)
        case Ending() as doing:
            return end.on_event(call, doing, event, now)
        case Filing():
            return end.on_filing(call, event, now)
        case Next() | Over():
            return call, ()
