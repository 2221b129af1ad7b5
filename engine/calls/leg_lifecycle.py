"""What holds whenever a leg comes or goes: it is marked, told, and let into what waits for it."""

from typing import Literal

from msgspec.structs import replace

from engine.calls.dispatch import dispatch
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, invited_legs, with_leg
from engine.calls.model.commands import Command, Dial, Hangup
from engine.calls.model.events import Event, LegAnswered, LegCreated, LegEnded, LegRinging
from engine.calls.model.leg import Leg
from engine.calls.model.state import (
    ArchivingRecordings,
    Bridged,
    Dialing,
    Ending,
    Gathering,
    RecordingVoicemail,
)
from engine.calls.reporting.call_events import emit, emit_leg, emit_leg_completed
from engine.calls.reporting.history import archive_leg
from engine.calls.sessions import conference, conversation, leg_control, transfer
from engine.calls.verbs import gather, hangup, record
from wire.events import Kind

LegProgress = LegCreated | LegRinging | LegAnswered


def apply_progress(call: Call, leg: Leg, event: LegProgress, now: int) -> Step:
    """Note how far a leg has come, and tell it."""
    match event:
        case LegCreated() if leg.state == "requested":
            ring = Dial(leg.id, int(leg.ring_timeout_s))
            return with_leg(call, replace(leg, state="created", requested_ms=now)), (ring,)
        case LegRinging() if leg.state in {"requested", "created"}:
            leg = replace(leg, state="ringing")
            if leg.id == call.main:
                call = replace(call, status="ringing")
            return _emit_progress(with_leg(call, leg), "ringing", leg, now)
        case LegAnswered() if leg.state != "up":
            leg = replace(leg, state="up", answered_ms=now)
            if leg.id == call.main:
                call = replace(call, status="in-progress", answered_ms=now)
            return _emit_progress(with_leg(call, leg), "answered", leg, now)
        case _:
            return call, ()


def _emit_progress(call: Call, fact: Literal["ringing", "answered"], leg: Leg, now: int) -> Step:
    if leg.id == call.main:
        call, told = emit(call, fact, now, channel_id=leg.id, party=leg.party)
    else:
        kind: Kind = "leg-ringing" if fact == "ringing" else "leg-answered"
        call, told = emit_leg(call, kind, leg, now)
    return call, (told,)


def propagate(call: Call, event: Event, now: int) -> Step:
    """Let an invited leg in, and the live session follow what happened."""
    commands: tuple[Command, ...] = ()
    if isinstance(event, LegAnswered) and event.leg in call.invited:
        call, commands = _admit(call, event.leg, now)
    if isinstance(call.state, Bridged):
        call, more = _propagate_bridged(call, call.state, event, now)
        commands += more
    if isinstance(event, LegEnded) and event.leg in call.invited:
        call = leg_control.clear_invite(call, event.leg)
    return call, commands


def expire_invites(call: Call, now: int) -> Step:
    """Give up the parties who were called into what goes on and have not answered in time."""
    late = [leg.id for leg in call.legs if leg.id in invited_legs(call) and _is_overdue(leg, now)]
    commands: tuple[Command, ...] = ()
    for leg in late:
        call, more = _expire(call, leg, now)
        commands += (*more, Hangup(leg, causes.NO_ANSWER))
    return call, commands


def _is_overdue(leg: Leg, now: int) -> bool:
    return leg.state != "up" and now >= leg.ring_deadline_ms


def _expire(call: Call, leg: str, now: int) -> Step:
    if call.transfer is not None and leg == call.transfer.target:
        return transfer.failed(call, call.transfer, causes.NO_ANSWER, now)
    member = call.conference.member(leg) if call.conference else None
    if member is not None:
        return conference.remove_member(call, member, "no_answer", now)
    return leg_control.clear_invite(call, leg), ()


def _admit(call: Call, leg: str, now: int) -> Step:
    if isinstance(call.state, Dialing):
        return leg_control.move_to_dial(call, call.state), ()
    return leg_control.join(call, leg, now)


def _propagate_bridged(call: Call, doing: Bridged, event: Event, now: int) -> Step:
    if call.transfer is not None:
        before = call
        call, commands = transfer.on_event(call, call.transfer, event, now)
        if call is not before:
            return call, commands
    elif call.conference is not None:
        return conference.on_event(call, call.conference, event, now)
    match event:
        case LegEnded(leg, cause) if leg in doing.legs:
            return conversation.drop_parties(call, doing, (leg,), cause, now)
        case _:
            return call, ()


def on_leg_ended(call: Call, leg: Leg | None, event: LegEnded, now: int) -> Step:
    """Let a leg be gone; with the main one the call ends, unless others go on without it."""
    if leg is None and isinstance(call.state, ArchivingRecordings):
        return hangup.on_archiving(call, event, now)
    if leg is None:
        return propagate(call, event, now)
    in_conference = call.conference is not None
    call, past = archive_leg(call, leg, event, now)
    call, commands = propagate(call, event, now)
    if leg.id != call.main:
        call, told = emit_leg_completed(call, past, now)
        call, commands = dispatch(call, (told, *commands), event, now)
        return (_with_lost_reason(call, event) if in_conference else call), commands
    if isinstance(call.state, Ending):
        return dispatch(call, commands, event, now)
    call, ending = _on_main_ended(call, event, now)
    return call, (*commands, *ending)


def _with_lost_reason(call: Call, event: LegEnded) -> Call:
    """Say that a conference was lost if it ends with a member who was, the main one or another."""
    if event.cause != causes.LOST or not isinstance(call.state, Ending):
        return call
    return replace(call, reason=causes.reason(causes.LOST))


def _on_main_ended(call: Call, event: LegEnded, now: int) -> Step:
    if event.cause == causes.LOST:
        lost = replace(call, reason=causes.reason(causes.LOST))
        return end_call(lost, now, "system", causes.TEMPORARY_FAILURE)
    call = replace(call, cause=event.cause, sip_code=event.sip_code)
    call = replace(call, reason=event.reason or call.reason)
    by = "system" if event.reason else "caller" if call.direction == "inbound" else "callee"
    return end_call(call, now, by, event.cause)


def end_call(call: Call, now: int, by: str, cause: int) -> Step:
    """End the call; what was collected of a caller who is gone is told, or filed."""
    commands: tuple[Command, ...] = ()
    if isinstance(call.state, Gathering) and call.leg(call.main) is None:
        call, commands = gather.abandon(call, call.state, now)
    if isinstance(call.state, RecordingVoicemail):
        call, commands = record.abandon(call, call.state, now)
    call, hangups = hangup.start(call, now, by, cause)
    return call, (*commands, *hangups)
