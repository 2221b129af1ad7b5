"""Verbs and states of a single leg, which run on the main leg or on a leg in screening."""

from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import Detecting, Gathering, Playing
from engine.calls.model.events import Event
from engine.calls.verbs import amd, play
from engine.calls.verbs.gather import gather
from wire import verbs
from wire.verbs import SingleLegVerb

SingleLegState = Playing | Gathering | Detecting


def start(call: Call, verb: SingleLegVerb, now: int) -> Step:
    match verb:
        case verbs.Gather():
            return gather.start(call, verb, now)
        case verbs.Play() | verbs.Say():
            return play.start(call, verb, now)


def on_event(call: Call, state: SingleLegState, event: Event, now: int) -> Step:
    match state:
        case Playing():
            return play.on_event(call, state, event, now)
        case Gathering():
            return gather.on_event(call, state, event, now)
        case Detecting():
            return amd.on_event(call, state, event, now)


def suspend(call: Call, state: SingleLegState, now: int) -> Step:
    """Suspend the prompt and the clocks; answer detection continues."""
    match state:
        case Playing():
            return play.suspend(call, state, now)
        case Gathering():
            return gather.suspend(call, state, now)
        case Detecting():
            return call, ()


def resume(call: Call, state: SingleLegState, now: int) -> Step:
    """Continue after `suspend`."""
    match state:
        case Playing():
            return play.resume(call, state, now)
        case Gathering():
            return gather.resume(call, state, now)
        case Detecting():
            return call, ()
