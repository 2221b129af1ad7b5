"""Registers the verbs: how each starts, and is suspended by a hold.

A verb whose state is `Suspendable` has `suspend(call, state, now)` and `resume(call, state, now)`;
of a dial, the screening of the leg is suspended.
"""

from msgspec.structs import replace

from engine.calls.media.plan import has_music
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, with_tracking
from engine.calls.model.call_states import (
    Advance,
    AwaitingInstructions,
    Bridged,
    ClosingState,
    Detecting,
    Dialing,
    Gathering,
    Pausing,
    Playing,
    RecordingVoicemail,
    Starting,
    Streaming,
)
from engine.calls.verbs import (
    call_end,
    call_setup,
    dial,
    flow,
    pause,
    play,
    record,
    single_leg_registry,
    stream,
)
from engine.calls.verbs.gather import gather
from wire import verbs
from wire.verbs import Action, HangupData, Verb

MAX_FLOWS = 50  # nested flows; ends a call whose flow runs itself

Suspendable = Playing | Gathering | Pausing | Dialing


def start(call: Call, verb: Verb, now: int) -> Step:
    if call.awaits_answer and _needs_media(verb):
        return call_setup.answer(call, verb, now)
    match verb:
        case verbs.Play() | verbs.Say() | verbs.Gather():
            return single_leg_registry.start(call, verb, now)
        case verbs.Record():
            return record.start(call, verb, now)
        case verbs.Pause():
            return pause.start(call, verb, now)
        case verbs.Stream():
            return stream.start(call, verb, now)
        case verbs.Flow(data=data):
            return _start_flow(with_tracking(call, data), data.flow_id, verb.action, now)
        case verbs.Dial(data=data):
            call = with_tracking(call, data)
            if data.flow_id is not None:
                return _start_flow(call, data.flow_id, verb.action, now)
            return dial.start(call, verb, now)
        case verbs.Hangup(data=data):
            return call_end.start(call, now, "action", _hangup_cause(call, data))


def _needs_media(verb: Verb) -> bool:
    """Return whether a verb needs an answered call; a dial only for its hold music."""
    match verb:
        case verbs.Play() | verbs.Say() | verbs.Gather() | verbs.Record() | verbs.Stream():
            return True
        case verbs.Dial():
            return verb.data.flow_id is None and has_music(verb)
        case verbs.Pause() | verbs.Flow() | verbs.Hangup():
            return False


def _hangup_cause(call: Call, data: HangupData) -> int:
    if not call.awaits_answer:
        return causes.NORMAL
    return causes.BUSY if data.reason == "busy" else causes.REJECTED


def _start_flow(call: Call, flow_id: str, action: Action | None, now: int) -> Step:
    if len(call.continuation) >= MAX_FLOWS:
        return call_end.start(replace(call, reason="too_many_flows"), now, "system")
    if action is not None:
        call = replace(call, continuation=(action, *call.continuation))
    return flow.start(call, flow_id, now)


def suspend(call: Call, leg: str, now: int) -> Step:
    """Suspend the verb that runs on a leg that is put on hold."""
    match _suspendable(call, leg):
        case Playing() as state:
            return play.suspend(call, state, now)
        case Gathering() as state:
            return gather.suspend(call, state, now)
        case Pausing() as state:
            return pause.suspend(call, state, now)
        case Dialing() as state:
            return dial.suspend(call, state, leg, now)
        case None:
            return call, ()


def resume(call: Call, leg: str, now: int) -> Step:
    """Continue the verb that runs on a leg that is taken off hold."""
    match _suspendable(call, leg):
        case Playing() as state:
            return play.resume(call, state, now)
        case Gathering() as state:
            return gather.resume(call, state, now)
        case Pausing() as state:
            return pause.resume(call, state, now)
        case Dialing() as state:
            return dial.resume(call, state, leg, now)
        case None:
            return call, ()


def _suspendable(call: Call, leg: str) -> Suspendable | None:
    """Return the state that a hold of this leg suspends, if any."""
    match call.state:
        case Playing() | Pausing() as state:
            return state if leg == call.main else None
        case Gathering() as state:
            return state if leg == state.leg else None
        case Dialing(screenings=screenings) as state:
            return state if leg in {each.leg for each in screenings} else None
        case RecordingVoicemail():  # a request is rejected; while its phone holds, silence follows
            return None
        case Starting() | Detecting() | Streaming() | AwaitingInstructions() | Bridged():
            return None
        case Advance() | ClosingState():
            return None
