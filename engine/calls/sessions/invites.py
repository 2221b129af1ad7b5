"""Invites parties into a live call, and adds them to its conversation when they answer."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, allocate_id, originate, with_leg
from engine.calls.model.call_states import (
    AwaitingInstructions,
    Bridged,
    CallState,
    Dialing,
    Streaming,
    UnbridgedState,
)
from engine.calls.model.commands import Command, Originate, ReplacedLeg
from engine.calls.model.leg import Leg
from engine.calls.model.requests import DialRequested
from engine.calls.reporting.call_events import emit_leg
from engine.calls.verbs import stream
from engine.calls.verbs.dial import dial_data
from engine.calls.verbs.suspendable_playback import stop_sound
from wire import verbs

Invitation = tuple[Call, str, tuple[Command, ...]]


def dial(call: Call, event: DialRequested, now: int) -> Step:
    """Invite one more party; during a dial it becomes one of the dialled legs."""
    call, _leg, commands = invite(call, event.party, event.ring_s, now, event.caller_id)
    if isinstance(call.state, Dialing):
        return move_to_dial(call, call.state), commands
    return call, commands


def invite(call: Call, party: str, ring_s: float, now: int, caller_id: str = "") -> Invitation:
    """Call a party that joins the conversation when it answers; also returns its leg's id."""
    call, leg_id = allocate_id(call, "l")
    leg = Leg(leg_id, party, "requested", now, ring_timeout_s=ring_s, caller_id=caller_id)
    return _create(call, leg, originate(call, leg_id, party, caller_id), now)


def connect(call: Call, party: str, ring_s: float, now: int, replaced: ReplacedLeg) -> Invitation:
    """Connect to the call of a party, in which the new leg takes the place of another."""
    call, leg_id = allocate_id(call, "l")
    leg = Leg(leg_id, party, "requested", now, ring_timeout_s=ring_s, replaces=replaced.leg)
    return _create(call, leg, Originate(leg_id, party, "", replaces=replaced), now)


def _create(call: Call, leg: Leg, command: Originate, now: int) -> Invitation:
    call, event = emit_leg(with_leg(call, leg), "leg-initiated", leg, now)
    return replace(call, invited=(*call.invited, leg.id)), leg.id, (event, command)


def clear_invite(call: Call, leg: str) -> Call:
    """Remove a leg from the invited legs: it has joined, or it will not."""
    return replace(call, invited=tuple(each for each in call.invited if each != leg))


def move_to_dial(call: Call, state: Dialing) -> Call:
    """Make the invited legs dialled legs: the first to answer wins."""
    deadlines = [leg.ring_deadline_ms for leg in call.legs if leg.id in call.invited]
    state = replace(
        state,
        legs=(*state.legs, *call.invited),
        deadline_ms=max(state.deadline_ms, *deadlines),
        bridge="",  # several parties ring: no early media
    )
    return replace(call, state=state, invited=())


def join(call: Call, leg: str, now: int) -> Step:
    """Add an invited leg that has answered to the conversation, or start one with it."""
    call = clear_invite(call, leg)
    if isinstance(call.state, Bridged):
        return replace(call, state=replace(call.state, legs=(*call.state.legs, leg))), ()
    call, bridge = allocate_id(call, "b")
    invited = call.leg(leg)
    data = dial_data(invited.party if invited else "")
    awaiting = call.state if isinstance(call.state, AwaitingInstructions) else None
    commands: tuple[Command, ...]
    bridged = Bridged(
        verb=verbs.Dial(data, restartable_verb(call.state)),
        leg=leg,
        legs=(leg,),
        bridge=bridge,
        since_ms=now,
        deadline_ms=call.must_end_ms,
        number=data.number if isinstance(data.number, str) else None,
        awaiting=awaiting,
    )
    if isinstance(call.state, Streaming):
        call, commands = stream.suspend(call, call.state, now)
    else:
        commands = stop_sound(call.state)
    return replace(call, state=bridged, has_run_verb=True), commands


def restartable_verb(state: CallState) -> verbs.Verb | None:
    """Return the verb that a conversation interrupts, and that restarts afterwards.

    A dial becomes the conversation; a stream waits in the continuation.
    """
    return state.running_verb if isinstance(state, UnbridgedState) else None
