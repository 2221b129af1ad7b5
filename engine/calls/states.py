"""The table of a call's states: what ends each, its deadline, what holds in it, and how it reacts.

docs/architecture.md shows the texts. What is asked of a state alone (its prompt, its digits) are
properties of its class, in `model.call_states`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from engine.calls.model.call import Call, Step, invited_legs
from engine.calls.model.call_states import (
    Advance,
    ArchivingRecordings,
    AwaitingInstructions,
    Bridged,
    ClosingState,
    Detecting,
    Dialing,
    Ended,
    Ending,
    Gathering,
    Pausing,
    Playing,
    RecordingVoicemail,
    Starting,
    State,
    Streaming,
)
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.verbs import (
    amd,
    awaiting_instructions,
    call_end,
    call_setup,
    conversation,
    dial,
    pause,
    play,
    record,
    stream,
)
from engine.calls.verbs.gather import gather
from engine.calls.verbs.registry import run_until_waiting
from engine.calls.verbs.type_ahead import state_of

Handler = Callable[[Call, Any, Event, int], Step]
OnHold = Callable[[Call, Any, str, int], Step]  # of a leg that is put on hold, or taken off it


def _within_call(call: Call, state: Any) -> int:
    """Return the state's deadline, or the call's own limit."""
    own_ms: int = state.deadline_ms
    return min(own_ms, call.must_end_ms)


def _bridged_ms(call: Call, state: Bridged) -> int:
    """Return the dial's time limit; during a transfer it waits for the source's return."""
    return call.must_end_ms if call.transfer is not None else _within_call(call, state)


def _ignore(call: Call, _state: Any, _event: Event, _now: int) -> Step:
    return call, ()


class StateRow(Struct, frozen=True):
    """A state: its reaction to events, and its deadline, which is no later than the call's."""

    on_event: Handler
    ends_when: str = ""
    deadline: str = ""
    on_hold: str = "allowed"  # of the main leg
    recorded: str = "yes"  # by the recording of the conversation
    due_ms: Callable[[Call, Any], int | None] = _within_call
    suspend: OnHold | None = None  # what a hold of a leg does to the verb that runs on it
    resume: OnHold | None = None


STATES: Mapping[type[State], StateRow] = {
    Starting: StateRow(
        call_setup.on_event,
        "the main leg answers",
        "the main leg's ring timeout: the call is hung up",
        on_hold="rejected: not answered",
        recorded="not yet",
    ),
    Detecting: StateRow(
        amd.on_event,
        "answer detection has a result",
        "when the result is known without another sound",
    ),
    Playing: StateRow(
        play.on_event,
        "the playback ends, or no audio could be fetched",
        "20 s for the fetch, then the length of the audio and 5 s",
        on_hold="suspends the playback",
        suspend=play.suspend,
        resume=play.resume,
    ),
    Gathering: StateRow(
        gather.on_event,
        "enough digits, the terminator, a timeout, or the end of the leg",
        "of the phase: fetch, prompt, first digit, between digits",
        on_hold="suspends the prompt and the clocks",
        suspend=gather.suspend,
        resume=gather.resume,
    ),
    RecordingVoicemail: StateRow(
        record.on_event,
        "the terminator, silence or the maximum length, and then the file is archived",
        "the maximum length, then 5 s for the archive",
        on_hold="rejected: a voicemail is recorded",  # while its phone holds, silence follows
    ),
    Pausing: StateRow(
        pause.on_event,
        "its time has passed",
        "the pause's length",
        on_hold="suspends the pause",
        suspend=pause.suspend,
        resume=pause.resume,
    ),
    Streaming: StateRow(
        stream.on_event,
        "the bot ends it, a request stops it, or it is lost and `onLost` gives up",
        "the verb's limit; 50 ms for the report of an ended stream, or the delay of the next try",
    ),
    Dialing: StateRow(
        dial.on_event,
        "a leg answers and passes its screening, or no leg is left",
        "the ring timeout, or the time limit of a screening stage",
        on_hold="allowed; rejected for a leg in screening",
        due_ms=lambda call, state: min(state.due_ms, call.must_end_ms),
        suspend=dial.suspend,  # the screening of the leg
        resume=dial.resume,
    ),
    AwaitingInstructions: StateRow(
        awaiting_instructions.on_event,
        "a webhook, a stored flow or an API request answers or fails",
        "17 s for a webhook or an API request, 5 s for a flow",
    ),
    Bridged: StateRow(
        conversation.on_event,
        "only one party is left",
        "the dial's time limit",
        due_ms=_bridged_ms,
    ),
    Ending: StateRow(
        call_end.on_event,
        "the last leg ends",
        "5 s; the hangup is repeated three times",
        on_hold="rejected: ended",
        recorded="until the main leg ends",
        due_ms=lambda _call, state: state.deadline_ms,
    ),
    ArchivingRecordings: StateRow(
        call_end.on_archiving,
        "all recordings are archived or lost",
        "10 s; archiving continues after the call has ended",
        on_hold="rejected: ended",
        recorded="no",
        due_ms=lambda _call, state: state.deadline_ms,
    ),
    Ended: StateRow(
        _ignore,
        "never",
        "none",
        on_hold="rejected: ended",
        recorded="no",
        due_ms=lambda _call, _state: None,
    ),
    Advance: StateRow(_ignore, due_ms=lambda _call, _state: None),  # a step leaves it at once
}


def dispatch(call: Call, before: tuple[Command, ...], event: Event, now: int) -> Step:
    """Let the state react to an event, then run what is next; `before` are earlier commands."""
    call, commands = STATES[type(call.state)].on_event(call, call.state, event, now)
    return run_until_waiting(call, (*before, *commands), now)


def suspend(call: Call, leg: str, now: int) -> Step:
    """Suspend the verb that runs on a leg that is put on hold."""
    row = STATES[type(call.state)]
    if row.suspend is None or state_of(call, leg) is None:
        return call, ()
    return row.suspend(call, call.state, leg, now)


def resume(call: Call, leg: str, now: int) -> Step:
    """Continue the verb that runs on a leg that is taken off hold."""
    row = STATES[type(call.state)]
    if row.resume is None or state_of(call, leg) is None:
        return call, ()
    return row.resume(call, call.state, leg, now)


def own_deadline_ms(call: Call) -> int | None:
    """Return the deadline of the call's state, without those of invited legs."""
    return STATES[type(call.state)].due_ms(call, call.state)


def deadline_ms(call: Call) -> int | None:
    """Return when the call next acts without an event; None when it has ended."""
    own = own_deadline_ms(call)
    if own is None or isinstance(call.state, ClosingState):
        return own
    due = [leg.hangup_due_ms for leg in call.legs if leg.hangup_due_ms]
    if call.taps_paused_until_ms:
        due.append(call.taps_paused_until_ms)
    for stream_of in call.streams:
        due += [each for each in (stream_of.due_ms, stream_of.limit_ms) if each]
    if call.invited or call.transfers:
        waiting = (leg for leg in call.legs if leg.id in invited_legs(call) and leg.state != "up")
        due += [leg.ring_deadline_ms for leg in waiting]
    return min([own, *due]) if due else own
