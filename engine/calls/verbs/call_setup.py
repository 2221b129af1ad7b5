"""Call setup: the main leg is called or answered, then the first verb starts."""

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, is_expected, ring_deadline_ms
from engine.calls.model.call_states import Advance, Bridged, ClosingState, Starting
from engine.calls.model.commands import Answer, Command, Originate, StartRinging
from engine.calls.model.events import (
    CallOpened,
    DeadlinePassed,
    Event,
    LegAnswered,
    LegCreated,
    Recovered,
)
from engine.calls.model.io_commands import PrefetchMedia
from engine.calls.reporting.call_events import emit
from engine.calls.verbs import amd, call_end
from engine.calls.verbs.audio_sources import audio_sources
from wire.verbs import Verb

ANSWER_TIMEOUT_MS = 15_000  # from request to answer of an inbound leg: a lost request is repeated


def on_event(call: Call, state: Starting, event: Event, now: int) -> Step:
    """Wait for the main leg's answer, then run the action."""
    match event:
        case CallOpened():
            return _open(call, state, now)
        case LegCreated(leg) if leg == call.main:
            deadline_ms = ring_deadline_ms(call, leg, now, state.deadline_ms)
            return replace(call, state=replace(state, deadline_ms=deadline_ms)), ()
        case LegAnswered(leg, awaits_ack=False) if leg == call.main:
            return _on_answered(call, state, now)
        case Recovered() | DeadlinePassed() if _awaits_ack(call):
            return _on_answered(call, state, now)
        case Recovered() if call.direction == "inbound":  # the answer may be repeated only now
            deadline_ms = max(state.deadline_ms, now + ANSWER_TIMEOUT_MS)
            return replace(call, state=replace(state, deadline_ms=deadline_ms)), ()
        case DeadlinePassed():
            return call_end.start(call, now, "system", causes.NO_ANSWER)
        case _:
            return call, ()


def answer(call: Call, verb: Verb, now: int) -> Step:
    """Answer a call that rings, then run the verb that needs media."""
    state = Starting(verb, now + ANSWER_TIMEOUT_MS)
    return replace(call, state=state, answer_deferred=False), (Answer(call.main),)


def ring_or_answer(call: Call, event: Event, now: int) -> Step:
    """Let a new call ring unless it needs media; answer it when a party is connected."""
    if not call.awaits_answer or isinstance(call.state, ClosingState):
        return call, ()
    if isinstance(call.state, Bridged):
        return replace(call, answer_deferred=False), (Answer(call.main),)
    if not isinstance(event, CallOpened):
        return call, ()
    call, ringing = emit(replace(call, status="ringing"), "ringing", now, channel_id=call.main)
    return call, (ringing, StartRinging(call.main))


def _awaits_ack(call: Call) -> bool:
    """Return whether the main leg is answered: its ACK may have come, or never comes."""
    return call.is_up(call.main) and is_expected(call, call.main)


def _on_answered(call: Call, state: Starting, now: int) -> Step:
    if state.detection is None:
        first = Advance(state.action, "start", fallback=state.fallback)
        return replace(call, state=first), ()
    return amd.start(call, state.detection, now, state)


def _open(call: Call, state: Starting, now: int) -> Step:
    call = replace(call, status="initiated", has_run_verb=False)
    call, emitted = emit(call, "initiated", now, channel_id=call.main)
    commands: list[Command] = [emitted]
    machine = state.on_machine if isinstance(state.on_machine, Struct) else None
    if sources := audio_sources(state.action, machine):
        commands.append(PrefetchMedia(sources))
    if call.answer_deferred:
        first = Advance(state.action, "start", fallback=state.fallback)
        call = replace(call, state=first)
    elif call.direction == "inbound":
        commands.append(Answer(call.main))
    else:
        commands.append(Originate(call.main, call.legs[0].party, call.caller_id))
    return call, tuple(commands)
