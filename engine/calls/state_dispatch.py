"""Dispatches an event to the call's state, then starts verbs until one waits."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import (
    Advance,
    ArchivingRecordings,
    AwaitingInstructions,
    Bridged,
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
from engine.calls.model.causes import EndedBy
from engine.calls.model.commands import Command
from engine.calls.model.continuation import Frame, SuspendedStream
from engine.calls.model.events import Event
from engine.calls.sessions import conversation
from engine.calls.verbs import (
    amd,
    awaiting_instructions,
    call_end,
    call_setup,
    dial,
    flow,
    pause,
    play,
    record,
    registry,
    stream,
)
from engine.calls.verbs.gather import gather
from wire.verbs import Action, Flow

# End a call whose webhook always returns another action, or whose flow leads from node to node; a
# queue that plays and asks stays below.
MAX_VERBS = 1_000
MAX_VERBS_PERIOD_MS = 300_000


def dispatch(call: Call, before: tuple[Command, ...], event: Event, now: int) -> Step:
    """Let the state react to an event, then run what is next; `before` are earlier commands."""
    call, commands = HANDLERS[type(call.state)](call, call.state, event, now)
    return run_until_waiting(call, (*before, *commands), now)


def _ignore(call: Call, _state: Any, _event: Event, _now: int) -> Step:
    return call, ()


Handler = Callable[[Call, Any, Event, int], Step]
# A table, because a chain of comparisons takes longer than many a handler.
HANDLERS: Mapping[type[State], Handler] = {
    Starting: call_setup.on_event,
    Detecting: amd.on_event,
    Playing: play.on_event,
    Gathering: gather.on_event,
    RecordingVoicemail: record.on_event,
    Pausing: pause.on_event,
    Streaming: stream.on_event,
    AwaitingInstructions: awaiting_instructions.on_event,
    Dialing: dial.on_event,
    Bridged: conversation.on_event,
    Ending: call_end.on_event,
    ArchivingRecordings: call_end.on_archiving,
    Advance: _ignore,
    Ended: _ignore,
}


def run_until_waiting(call: Call, commands: tuple[Command, ...], now: int) -> Step:
    """Start what is next until a state waits; `commands` are earlier commands."""
    while isinstance(call.state, Advance):
        call, more = _start_next(call, call.state, now)
        commands = (*commands, *more)
    return call, commands


def _start_next(call: Call, advance: Advance, now: int) -> Step:
    if now - call.verbs_since_ms >= MAX_VERBS_PERIOD_MS:
        call = replace(call, verbs_started=0, verbs_since_ms=now)
    if call.verbs_started >= MAX_VERBS:
        return call_end.start(replace(call, reason="too_many_verbs"), now, "system")
    started = call.verbs_started + 1
    match advance.action:
        case None if call.continuation:
            call = replace(call, verbs_started=started)
            return _continue(call, call.continuation[0], advance, now)
        case None:
            return _end_tree(call, advance, now)
        case str(url):
            call = replace(call, verbs_started=started, conversation_end=None)
            return awaiting_instructions.start_url(call, url, advance, now)
        case verb:
            call = replace(
                call,
                verbs_started=started,
                conversation_end=None,
                has_run_verb=call.has_run_verb or not isinstance(verb, Flow),
            )
            call, commands = registry.start(call, verb, now)
            if advance.fallback is not None and isinstance(call.state, AwaitingInstructions):
                call = replace(call, state=replace(call.state, fallback=advance.fallback))
            return call, commands


def _end_tree(call: Call, advance: Advance, now: int) -> Step:
    """End the call: nothing is left to do, perhaps because a conversation has ended."""
    end = call.conversation_end
    if end is None or call.reason:
        by: EndedBy = "system" if call.reason else "action"
        return call_end.start(call, now, by, call.cause or _end_cause(call, advance))
    call = replace(call, cause=end.cause, reason=end.reason, ended_by_leg=end.leg)
    return call_end.start(call, now, end.by)


def _end_cause(call: Call, advance: Advance) -> int:
    """Return the cause of a tree's end; a caller not answered yet gets that of the dial."""
    if not call.awaits_answer:
        return causes.NORMAL
    return (advance.dial.cause if advance.dial else 0) or causes.REJECTED


def _continue(
    call: Call, top: Action | Frame | SuspendedStream, advance: Advance, now: int
) -> Step:
    if isinstance(top, Frame):
        return flow.advance(call, top, advance, now)
    if isinstance(top, SuspendedStream):
        return stream.resume(call, top, advance, now)
    return replace(call, state=Advance(top, "flow"), continuation=call.continuation[1:]), ()
