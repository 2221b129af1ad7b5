"""The table of the verbs: how each starts; and what runs when a verb has ended."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, with_tracking
from engine.calls.model.call_states import Advance, AwaitingInstructions
from engine.calls.model.causes import EndedBy
from engine.calls.model.commands import Command
from engine.calls.model.continuation import Frame, SuspendedStream
from engine.calls.verbs import (
    awaiting_instructions,
    call_end,
    call_setup,
    dial,
    flow,
    pause,
    play,
    record,
    stream,
)
from engine.calls.verbs.gather import gather
from wire import verbs
from wire.verbs import Action, Verb

MAX_FLOWS = 50  # nested flows; ends a call whose flow runs itself
# End a call whose webhook always returns another action, or whose flow leads from node to node; a
# queue that plays and asks stays below.
MAX_VERBS = 1_000
MAX_VERBS_PERIOD_MS = 300_000

Start = Callable[[Call, Any, int], Step]


def start(call: Call, verb: Verb, now: int) -> Step:
    if call.awaits_answer and verb.needs_media:
        return call_setup.answer(call, verb, now)
    return VERBS[type(verb)](call, verb, now)


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
                has_run_verb=call.has_run_verb or not isinstance(verb, verbs.Flow),
            )
            call, commands = start(call, verb, now)
            state = call.state
            if isinstance(state, AwaitingInstructions) and state.fallback is None:
                call = replace(call, state=replace(state, fallback=advance.fallback))
            return call, commands


def _continue(
    call: Call, top: Action | Frame | SuspendedStream, advance: Advance, now: int
) -> Step:
    if isinstance(top, Frame):
        return flow.advance(call, top, advance, now)
    if isinstance(top, SuspendedStream):
        return stream.resume(call, top, advance, now)
    return replace(call, state=Advance(top, "flow"), continuation=call.continuation[1:]), ()


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


def _dial(call: Call, verb: verbs.Dial, now: int) -> Step:
    if verb.data.flow_id is not None:
        return _run_flow(call, verb, now)
    return dial.start(with_tracking(call, verb.data), verb, now)


def _run_flow(call: Call, verb: verbs.Flow | verbs.Dial, now: int) -> Step:
    """Load a flow; the action runs after it."""
    call = with_tracking(call, verb.data)
    if len(call.continuation) >= MAX_FLOWS:
        return call_end.start(replace(call, reason="too_many_flows"), now, "system")
    if verb.action is not None:
        call = replace(call, continuation=(verb.action, *call.continuation))
    return flow.start(call, verb.data.flow_id or "", now)


def _hang_up(call: Call, verb: verbs.Hangup, now: int) -> Step:
    """End the call; one that is not answered yet is rejected."""
    rejected = causes.BUSY if verb.data.reason == "busy" else causes.REJECTED
    cause = rejected if call.awaits_answer else causes.NORMAL
    return call_end.start(call, now, "action", cause)


VERBS: Mapping[type, Start] = {
    verbs.Play: play.start,
    verbs.Say: play.start,
    verbs.Gather: gather.start,
    verbs.Record: record.start,
    verbs.Pause: pause.start,
    verbs.Stream: stream.start,
    verbs.Dial: _dial,
    verbs.Flow: _run_flow,
    verbs.Redirect: awaiting_instructions.redirect,
    verbs.Hangup: _hang_up,
}
