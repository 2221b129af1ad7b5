"""What the outside is told: numbered without gaps, with ids that a retold event keeps."""

from typing import Any

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.leg import EndedLeg, Leg
from engine.calls.model.recording import Recording, parse_recording_name
from engine.calls.model.sessions import Conference, Member, Transfer
from wire.events import VERSION, CallEvent, Kind
from wire.record import CallRecord


def emit(call: Call, kind: Kind, now: int, **facts: Any) -> tuple[Call, EmitEvent]:
    """Tell a fact about the call."""
    event = CallEvent(
        id=f"{call.id}.e{call.event_seq}",
        event=kind,
        sequence_number=call.event_seq,
        timestamp=now,
        call_id=call.id,
        account_id=call.account,
        call_status=call.status,
        direction=call.direction,
        from_=call.from_,
        to=call.to,
        custom_data=call.custom_data,
        version=VERSION,
        **facts,
    )
    return replace(call, event_seq=call.event_seq + 1), EmitEvent(event)


def sort_events(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    """Put what is told in the order of its numbers, whoever of several told it first."""
    if len(commands) < 2:  # noqa: PLR2004 - one is in order
        return commands
    tells = [each for each in commands if isinstance(each, EmitEvent)]
    if len(tells) < 2:  # noqa: PLR2004 - one is in order
        return commands
    following = iter(sorted(tells, key=_number))
    return tuple(next(following) if isinstance(each, EmitEvent) else each for each in commands)


def _number(told: EmitEvent) -> int:
    return told.event.sequence_number


def emit_leg(call: Call, kind: Kind, leg: Leg, now: int, **facts: Any) -> tuple[Call, EmitEvent]:
    """Tell a fact about one of its legs."""
    return emit(
        call,
        kind,
        now,
        channel_id=leg.id,
        parent_call_id=call.id if leg.id != call.main else None,
        party=leg.party,
        agent_id=leg.agent_id,
        reference_id=leg.reference_id,
        answered_by=leg.answered_by,
        **facts,
    )


def emit_leg_completed(call: Call, past: EndedLeg, now: int) -> tuple[Call, EmitEvent]:
    """Tell how a leg ended."""
    answered_ms = past.leg.answered_ms
    return emit_leg(
        call,
        "leg-completed",
        past.leg,
        now,
        leg_status=past.status,
        hangup_cause=past.cause,
        sip_code=past.sip_code or None,
        reason=past.reason or None,
        duration=(now - answered_ms) // 1000 if answered_ms else 0,
    )


def emit_completed(call: Call, record: CallRecord, now: int) -> tuple[Call, EmitEvent]:
    """Tell the end of the call, and all of it."""
    return emit(
        call,
        "completed",
        now,
        channel_id=call.main,
        hangup_cause=call.cause,
        sip_code=call.sip_code or None,
        ended_by=call.ended_by or None,
        answered_by=call.answered_by,
        reason=call.reason or causes.reason(call.cause) or None,
        duration=(call.ended_ms - call.answered_ms) // 1000 if call.answered_ms else 0,
        **main_recording_fields(call),
        record=record,
    )


def main_recording_fields(call: Call) -> dict[str, Any]:
    """Say where the call's recording is, or its last message, and how long it lasts."""
    kept = [each for each in call.recordings if each.state != "lost"]
    tape = next((e for e in kept if e.purpose == "call"), kept[-1] if kept else None)
    return recording_fields(call, tape) if tape else {}


def recording_fields(call: Call, tape: Recording) -> dict[str, Any]:
    """Say where a tape is filed, or will be."""
    return {
        "recording_url": recording_url(call, tape),
        "recording_purpose": tape.purpose,
        "recording_duration": round(tape.duration_ms / 1000) if tape.state == "archived" else None,
    }


def recording_url(call: Call, tape: Recording) -> str:
    """Give the address that a tape is filed at, or will be."""
    named = parse_recording_name(tape.name)
    assert named is not None, tape.name  # noqa: S101 - narrows for mypy; we made the name
    return (call.recording_destination.base if call.recording_destination else "") + named.path


def emit_transfer(call: Call, transfer: Transfer, now: int) -> tuple[Call, EmitEvent]:
    """Tell the state that a transfer has come to."""
    return emit(
        call,
        "transfer",
        now,
        session_id=transfer.id,
        session_state=transfer.state,
        mode=transfer.mode,
        party=transfer.party,
        channel_id=transfer.target,
        reason=transfer.reason or None,
        agent_id=transfer.source_agent or None,
    )


def emit_conference(call: Call, conference: Conference, now: int) -> tuple[Call, EmitEvent]:
    """Tell the state that a conference has come to."""
    return emit(
        call,
        "conference",
        now,
        session_id=conference.id,
        session_state=conference.state,
        reason=conference.reason or None,
        agent_id=conference.requested_by or None,
    )


def emit_member(
    call: Call, conference: Conference, member: Member, now: int
) -> tuple[Call, EmitEvent]:
    """Tell the state that a member of a conference has come to."""
    return emit(
        call,
        "conference-member",
        now,
        session_id=conference.id,
        session_state=member.state,
        channel_id=member.leg,
        party=member.party,
        reason=member.reason or None,
        agent_id=member.agent_id or None,
    )
