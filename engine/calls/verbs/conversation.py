"""The conversation after a dial: parties join and leave; it ends when one is left."""

from msgspec.structs import replace

from engine.calls.hold_and_mute import release_leg
from engine.calls.media.plan import UNBRIDGED, desired_media
from engine.calls.model import causes
from engine.calls.model.call import Call, ConversationEnd, Step
from engine.calls.model.call_states import Advance, Bridged
from engine.calls.model.commands import AddToBridge, Hangup
from engine.calls.model.events import BridgeFailed, DeadlinePassed, Event
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
)
from engine.calls.reporting.call_events import duration_fields
from engine.calls.transfer_and_conference_end import end_sessions
from engine.calls.verbs import awaiting_instructions, flow
from engine.calls.verbs.type_ahead import drop_earlier
from wire.party import Party
from wire.verbs import Action
from wire.webhooks import DialResult


def on_event(call: Call, state: Bridged, event: Event, now: int) -> Step:
    """Handle its deadline, a failed bridge, and instructions that arrive meanwhile."""
    match event:
        case DeadlinePassed():
            return _on_time_limit(call, state, now)
        case BridgeFailed(bridge, legs=legs) if bridge == state.bridge:
            return _retry_bridge(call, state, legs, now)
        case ActionReceived(request, action) if (
            state.awaiting and request == state.awaiting.request
        ):
            return replace(
                call, state=_continue_with(state, action)
            ), awaiting_instructions.prefetch(action)
        case ActionFailed(request, reason) if state.awaiting and request == state.awaiting.request:
            # Whoever ends the conversation may end the call: that has its own reason.
            failed = replace(state.awaiting, failure=reason)
            return replace(call, state=replace(state, awaiting=failed)), ()
        case FlowStarted() | FlowNodeLoaded() | ApiRequestSucceeded() | ApiRequestFailed() if (
            state.awaiting
        ):
            return _apply_flow_result(call, state, event), ()
        case _:
            return call, ()


def _on_time_limit(call: Call, state: Bridged, now: int) -> Step:
    """Hang up the party that the limit is set for; other dialed parties continue."""
    limited = (state.leg,) if state.leg in state.legs else ()
    state = replace(state, deadline_ms=call.must_end_ms)
    if not limited:
        return replace(call, state=state), ()
    after, commands = hang_up_parties(call, state, limited, now)
    end = ConversationEnd("system", "", causes.NORMAL, "time_limit")
    return note_end(call, after, end), commands


def note_end(before: Call, call: Call, end: ConversationEnd) -> Call:
    """Note who ended a conversation that has just ended."""
    has_ended = isinstance(before.state, Bridged) and not isinstance(call.state, Bridged)
    return replace(call, conversation_end=end) if has_ended else call


def _apply_flow_result(call: Call, state: Bridged, event: flow.FlowResult) -> Call:
    """Apply the result that a flow waits for; the flow continues after the conversation."""
    if state.awaiting is None or event.request != state.awaiting.request:
        return call
    return replace(flow.apply_result(call, event), state=_continue_with(state, None))


def _retry_bridge(call: Call, state: Bridged, legs: tuple[str, ...], now: int) -> Step:
    """Bridge the legs that still belong here; hang up the parties that can't be bridged."""
    media = desired_media(call)
    left = tuple(leg for leg in legs if media.get(leg, UNBRIDGED).bridge == state.bridge)
    if left != legs:
        return call, (AddToBridge(state.bridge, left),) if left else ()
    if len(legs) > 1:  # which of them can't be bridged is unknown
        return call, tuple(AddToBridge(state.bridge, (leg,)) for leg in legs)
    lost = tuple(leg for leg in state.legs if leg in legs)
    parties = state.legs if call.main in legs else lost
    after, commands = hang_up_parties(call, state, parties, now)
    end = ConversationEnd("system", "", causes.TEMPORARY_FAILURE, "bridge_failed")
    return note_end(call, after, end), commands


def _continue_with(state: Bridged, action: Action | None) -> Bridged:
    return replace(state, verb=replace(state.verb, action=action), awaiting=None)


def hang_up_parties(call: Call, state: Bridged, legs: tuple[str, ...], now: int) -> Step:
    """Hang up parties and end the conversation if none is left."""
    hangups = tuple(Hangup(leg, causes.NORMAL) for leg in legs)
    call, commands = drop_parties(call, state, legs, causes.NORMAL, now)
    return call, (*(each for each in commands if each not in hangups), *hangups)


def drop_parties(call: Call, state: Bridged, left: tuple[str, ...], cause: int, now: int) -> Step:
    """Remove parties that have left, not the main leg; end the conversation if none is left."""
    remaining = tuple(leg for leg in state.legs if leg not in left)
    if remaining:
        return replace(call, state=replace(state, legs=remaining)), ()
    return end(call, state, "completed", cause, now)


def end(call: Call, state: Bridged, status: causes.Status, cause: int, now: int) -> Step:
    """End the conversation and take the main leg off hold; the tree continues on it."""
    call, commands = end_sessions(call, "conversation_ended", now)
    call, more = release_leg(call, call.main, now)
    call = drop_earlier(call, call.main, now)
    commands += more
    if state.awaiting is not None:
        return awaiting_instructions.resume(call, state.awaiting, now), commands
    data, lasted = state.verb.data, duration_fields(state.since_ms, now)
    result = DialResult(
        status=status,
        cause=cause,
        duration=lasted["duration"],
        duration_ms=lasted["duration_ms"],
        number=state.number,
        channel_id=state.leg,
        answered_by=state.answered_by,
        agent_id=Party.parse(state.number or "").agent_id or data.agent_id,
        reference_id=data.reference_id,
    )
    return replace(call, state=Advance(state.verb.action, "dial", result)), commands
