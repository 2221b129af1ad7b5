"""Rules for the progress and the end of legs that hold in every state of a call."""

from typing import Literal

from msgspec.structs import replace

from engine.calls.hold_and_mute import set_hold
from engine.calls.media.streams import track_stream
from engine.calls.model import causes
from engine.calls.model.call import (
    Call,
    ConversationEnd,
    Step,
    invited_legs,
    is_expected,
    with_leg,
)
from engine.calls.model.call_states import (
    ArchivingRecordings,
    Bridged,
    Dialing,
    Ending,
    Gathering,
    RecordingVoicemail,
)
from engine.calls.model.commands import Command, Dial, Hangup
from engine.calls.model.events import (
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegReplaced,
    LegResumedByPhone,
    LegRinging,
)
from engine.calls.model.leg import EndedLeg, Leg
from engine.calls.model.requests import ReplacementArrived
from engine.calls.pending_hangups import initiator
from engine.calls.reporting.call_events import emit, emit_leg, emit_leg_completed, is_called_leg
from engine.calls.reporting.ended_legs import archive_leg, update_hold_time
from engine.calls.sessions import conference, invites, transfer
from engine.calls.sessions.leg_control import on_phone_hold
from engine.calls.sessions.replacement import take_place
from engine.calls.states import dispatch
from engine.calls.trunk_failover import fail_over
from engine.calls.verbs import call_end, conversation, forks, record
from engine.calls.verbs.gather import end as gather_end
from wire.events.call_events import Kind

LegProgress = LegCreated | LegRinging | LegAnswered
# Asterisk reports the hold of a 200 about 1 ms before the answer. That of a 183 may be over with
# the 200, which Asterisk does not report (docs/asterisk.md).
MAX_BEFORE_ANSWER_MS = 100


def reject_leg(event: Event) -> tuple[Command, ...]:
    """Hang up a leg that comes to a call that has ended."""
    match event:
        case LegCreated(leg) | LegRinging(leg) | LegAnswered(leg):
            return (Hangup(leg, causes.NORMAL),)
        case ReplacementArrived(leg) | LegReplaced(leg):
            return (Hangup(leg, causes.REJECTED),)
        case _:
            return ()


def apply_progress(call: Call, leg: Leg, event: LegProgress, now: int) -> Step:
    """Update the state of a leg and emit its event."""
    match event:
        case LegCreated() if leg.state == "requested":
            dial = Dial(leg.id, int(leg.ring_timeout_s))
            return with_leg(call, replace(leg, state="created", requested_ms=now)), (dial,)
        case LegRinging() if leg.state in {"requested", "created"}:
            leg = replace(leg, state="ringing")
            if leg.id == call.main:
                call = replace(call, status="ringing")
            return _emit_progress(with_leg(call, leg), "ringing", leg, now)
        case LegAnswered() if leg.state != "up":
            return _answer(call, leg, now)
        case _:
            return call, ()


def _answer(call: Call, leg: Leg, now: int) -> Step:
    """Note that a leg is answered, maybe on hold."""
    is_held = leg.held_by_phone and now - leg.held_since_ms <= MAX_BEFORE_ANSWER_MS
    leg = replace(leg, held_by_phone=False, held_since_ms=0)
    leg = replace(leg, state="up", answered_ms=now, digits_from_ms=now)
    if leg.id == call.main:
        call = replace(call, status="in-progress", answered_ms=now)
    call = update_hold_time(with_leg(call, leg), now)  # another leg may be on hold already
    call, answered = _emit_progress(call, "answered", leg, now)
    if not is_held:
        return call, answered
    held = leg.with_holds(now, held=leg.held, held_by_phone=True)
    call, events = set_hold(call, held, now)
    return call, (*answered, *events)


def apply_late_answer(call: Call, leg: Leg | None, event: LegProgress, now: int) -> Step:
    """Record the answer of a canceled leg: its carrier bills it (200 and CANCEL have crossed)."""
    if leg is None or leg.state == "up" or not isinstance(event, LegAnswered):
        return call, ()
    if leg.id == call.main:
        call = replace(call, reason=call.reason or "answered_late")
    return apply_progress(call, leg, event, now)


def _emit_progress(
    call: Call, progress: Literal["ringing", "answered"], leg: Leg, now: int
) -> Step:
    if leg.id == call.main:
        call, emitted = emit(call, progress, now, channel_id=leg.id, party=leg.party)
    else:
        kind: Kind = "leg-ringing" if progress == "ringing" else "leg-answered"
        call, emitted = emit_leg(call, kind, leg, now)
    return call, (emitted,)


def propagate(call: Call, event: Event, now: int) -> Step:
    """Admit an invited leg that answered, and let the live session react to the event."""
    if not (call.invited or isinstance(call.state, Bridged)):
        return call, ()
    commands: tuple[Command, ...] = ()
    if isinstance(event, LegAnswered) and event.leg in call.invited:
        call, commands = _admit(call, event.leg, now)
    if isinstance(call.state, Bridged):
        call, more = _propagate_bridged(call, call.state, event, now)
        commands += more
    if isinstance(event, LegEnded) and event.leg in call.invited:
        call = invites.clear_invite(call, event.leg)
    return call, commands


def propagate_and_dispatch(call: Call, event: Event, now: int) -> Step:
    """Let the session react to an event, then the state."""
    before = call
    call, commands = propagate(call, event, now)
    if call is not before:
        call = with_end_by(before, call, event)
    return dispatch(call, commands, event, now)


def with_end_by(before: Call, call: Call, event: Event) -> Call:
    """Store who ended the conversation, if an event other than a leg's end has ended it."""
    return conversation.note_end(before, call, ConversationEnd(initiator(before, call, event)))


def expire_invites(call: Call, now: int) -> Step:
    """Hang up invited legs that have not been answered in time."""
    invited = invited_legs(call)
    overdue = [leg.id for leg in call.legs if leg.id in invited and _is_overdue(leg, now)]
    commands: tuple[Command, ...] = ()
    for leg in overdue:
        call, more = _expire(call, leg, now)
        commands += (*more, Hangup(leg, causes.NO_ANSWER))
    return call, commands


def _is_overdue(leg: Leg, now: int) -> bool:
    return leg.state != "up" and now >= leg.ring_deadline_ms


def _expire(call: Call, leg: str, now: int) -> Step:
    if call.transfer is not None and leg == call.transfer.target:
        return transfer.fail(call, call.transfer, causes.NO_ANSWER, now)
    member = call.conference.member(leg) if call.conference else None
    if member is not None:
        return conference.remove_member(call, member, "no_answer", now)
    return invites.clear_invite(call, leg), ()


def _admit(call: Call, leg: str, now: int) -> Step:
    if isinstance(call.state, Dialing):
        return invites.move_to_dial(call, call.state), ()
    return invites.join(call, leg, now)


def _propagate_bridged(call: Call, state: Bridged, event: Event, now: int) -> Step:
    if call.transfer is not None:
        before = call
        call, commands = transfer.on_event(call, call.transfer, event, now)
        if call is not before:
            return call, commands
    elif call.conference is not None:
        return conference.on_event(call, call.conference, event, now)
    match event:
        case LegEnded(leg, cause) if leg in state.legs:
            return conversation.drop_parties(call, state, (leg,), cause, now)
        case _:
            return call, ()


def on_leg_progress(call: Call, leg: Leg | None, event: LegProgress, now: int) -> Step:
    """Update a leg and let the call react; a leg that is not expected is hung up."""
    if leg is None and call.streams and (step := _on_stream_channel(call, event, now)):
        return step
    if leg is None:
        after, commands = propagate(call, event, now)
        if after is not call:
            return after, commands  # the snoop of a coach
    if leg is None or not is_expected(call, leg.id):
        call, emitted = apply_late_answer(call, leg, event, now)
        return call, (*emitted, Hangup(event.leg, causes.NORMAL))
    call, emitted = apply_progress(call, leg, event, now)
    call, commands = propagate(call, event, now)
    return dispatch(call, (*emitted, *commands), event, now)


def _on_stream_channel(call: Call, event: LegProgress | LegEnded, now: int) -> Step | None:
    """React to the channel of a stream, or to the snoop of a fork; None for other channels."""
    if (fork := forks.fork_of(call, event.leg)) is not None:
        return forks.on_event(call, fork, event, now)
    if call.stream(event.leg) is None:
        return None
    return dispatch(track_stream(call, event, now), (), event, now)


def on_leg_replaced(call: Call, event: LegReplaced, now: int) -> Step:
    """Go on with the leg that has taken the place of another, which ends now.

    A hold by the phone of the leg before it is over. That phone may still wait for its BYE.
    """
    call, commands = take_place(call, event, now)
    arrived = call.leg(event.leg)
    if arrived is not None and arrived.state != "up":
        call, more = on_leg_progress(call, arrived, LegAnswered(event.leg), now)
        commands += more
    call, more = on_phone_hold(call, LegResumedByPhone(event.leg), now)
    commands += more
    replaced = call.leg(event.replaced)
    if replaced is None:
        return call, commands
    ended = LegEnded(event.replaced, causes.NORMAL)
    call, more = on_leg_ended(call, replaced, ended, now)
    hangup = Hangup(event.replaced, causes.NORMAL)
    return call, (*(each for each in (*commands, *more) if each != hangup), hangup)


def on_leg_ended(call: Call, leg: Leg | None, event: LegEnded, now: int) -> Step:
    """Remove a leg; the end of the main leg ends the call, unless a session continues it."""
    if leg is None and call.streams and (step := _on_stream_channel(call, event, now)):
        return step
    if leg is None and isinstance(call.state, ArchivingRecordings):
        return call_end.on_archiving(call, call.state, event, now)
    if leg is None:
        return propagate(call, event, now)
    if (step := fail_over(call, leg, event)) is not None:
        return step
    before = call
    call, ended_leg = archive_leg(call, leg, event, now)
    call, commands = propagate(call, event, now)
    call = conversation.note_end(before, call, _conversation_end(ended_leg))
    if is_called_leg(call, leg):
        call, emitted = emit_leg_completed(call, ended_leg, now)
        commands = (emitted, *commands)
    if leg.id != call.main:
        return dispatch(call, commands, event, now)
    if isinstance(call.state, Ending):
        return dispatch(call, commands, event, now)
    call, ending = _on_main_ended(call, ended_leg, now)
    return call, (*commands, *ending)


def _conversation_end(ended: EndedLeg) -> ConversationEnd:
    name = causes.reason(ended.cause, is_answered=ended.leg.answered_ms > 0)
    return ConversationEnd(ended.ended_by, ended.leg.id, ended.cause, ended.reason or name)


def _on_main_ended(call: Call, ended: EndedLeg, now: int) -> Step:
    call = replace(call, ended_by_leg=call.ended_by_leg or ended.leg.id)
    if ended.cause == causes.LOST:
        lost = replace(call, reason=causes.reason(causes.LOST))
        return end_call(lost, now, "system", causes.TEMPORARY_FAILURE)
    call = replace(call, cause=ended.cause, sip_code=ended.sip_code)
    call = replace(call, reason=ended.reason or call.reason)
    is_answered = ended.leg.answered_ms > 0
    is_fault = causes.is_fault(ended.cause, ended.sip_code, is_answered=is_answered)
    return end_call(call, now, ended.ended_by, causes.NORMAL if is_fault else ended.cause)


def end_call(call: Call, now: int, by: causes.EndedBy, cause: int) -> Step:
    """Hang up all legs; digits and voicemails collected so far are reported."""
    commands: tuple[Command, ...] = ()
    if isinstance(call.state, Gathering) and call.leg(call.main) is None:
        call, commands = gather_end.abandon(call, call.state, now)
    if isinstance(call.state, RecordingVoicemail):
        call, commands = record.abandon(call, call.state, now)
    call, hangups = call_end.start(call, now, by, cause)
    return call, (*commands, *hangups)
