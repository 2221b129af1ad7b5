"""Emits a call's events, numbered without gaps; a repeated event keeps its id."""

from typing import Any

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.leg import EndedLeg, Leg
from engine.calls.model.recording import Recording, parse_recording_name
from engine.calls.model.sessions import Conference, Member, Transfer
from wire.call_id_format import call_of
from wire.events.call_events import VERSION, CallEvent, Kind
from wire.events.record import CallRecord


def emit(
    call: Call,
    kind: Kind,
    now: int,
    *,
    agent_id: str | None = None,
    reference_id: str | None = None,
    **fields: Any,
) -> tuple[Call, EmitEvent]:
    """Emit an event about the call, with its tracking values unless the event has its own."""
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
        agent_id=agent_id or call.agent_id or None,
        reference_id=reference_id or call.reference_id or None,
        custom_data=call.custom_data,
        version=VERSION,
        privacy=call.privacy,
        diversion=call.diversion,
        caller_name=call.caller_name,
        **fields,
    )
    return replace(call, event_seq=call.event_seq + 1), EmitEvent(event)


def sort_events(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    """Sort the emitted events by sequence number; other commands keep their place."""
    if len(commands) < 2:  # noqa: PLR2004 - one needs no sorting
        return commands
    events = [each for each in commands if isinstance(each, EmitEvent)]
    if len(events) < 2:  # noqa: PLR2004 - one needs no sorting
        return commands
    following = iter(sorted(events, key=_number))
    return tuple(next(following) if isinstance(each, EmitEvent) else each for each in commands)


def _number(command: EmitEvent) -> int:
    return command.event.sequence_number


def is_called_leg(call: Call, leg: Leg) -> bool:
    """Return whether the events of a leg are those of a called leg, not of its call."""
    return leg.id != call.main or not _began_with(call, leg)


def _began_with(call: Call, leg: Leg) -> bool:
    if call.direction == "outbound":
        return leg.id == f"{call.id}.l0"
    return call_of(leg.id) is None and not leg.is_local_channel


def emit_leg(call: Call, kind: Kind, leg: Leg, now: int, **fields: Any) -> tuple[Call, EmitEvent]:
    """Emit an event about one of its legs."""
    return emit(
        call,
        kind,
        now,
        channel_id=leg.id,
        parent_call_id=call.id if is_called_leg(call, leg) else None,
        party=leg.party,
        agent_id=leg.agent or None,
        reference_id=leg.reference_id,
        answered_by=leg.answered_by,
        **fields,
    )


def emit_leg_completed(call: Call, ended: EndedLeg, now: int) -> tuple[Call, EmitEvent]:
    """Emit the end of a leg."""
    answered_ms = ended.leg.answered_ms
    is_answered = answered_ms > 0
    return emit_leg(
        call,
        "leg-completed",
        ended.leg,
        now,
        leg_status=ended.status,
        hangup_cause=ended.cause,
        sip_code=ended.sip_code or None,
        ended_by=ended.ended_by or None,
        reason=ended.reason or causes.reason(ended.cause, is_answered=is_answered) or None,
        **duration_fields(answered_ms, ended.ended_ms),
    )


def emit_completed(call: Call, record: CallRecord, now: int) -> tuple[Call, EmitEvent]:
    """Emit the end of the call, with its record."""
    return emit(
        call,
        "completed",
        now,
        channel_id=call.main,
        hangup_cause=call.cause,
        sip_code=call.sip_code or None,
        ended_by=call.ended_by or None,
        ended_by_channel_id=call.ended_by_leg or None,
        answered_by=call.answered_by,
        reason=end_reason(call),
        **duration_fields(call.answered_ms, call.ended_ms),
        **main_recording_fields(call),
        record=record,
    )


def end_reason(call: Call) -> str | None:
    """Return why a call ended: what is known besides the cause, or else the cause's name."""
    return call.reason or causes.reason(call.cause, is_answered=call.answered_ms > 0) or None


def duration_fields(answered_ms: int, ended_ms: int) -> dict[str, Any]:
    """Return the time since the answer: exact, and in seconds, of which each begun one counts."""
    duration_ms = max(0, ended_ms - answered_ms) if answered_ms else 0
    return {"duration": -(-duration_ms // 1000), "duration_ms": duration_ms}


def main_recording_fields(call: Call) -> dict[str, Any]:
    """Return the event fields of the call's recording, else of its last voicemail."""
    kept = [each for each in call.recordings if each.state != "lost"]
    main = next((e for e in kept if e.purpose == "call"), kept[-1] if kept else None)
    return recording_fields(call, main) if main else {}


def recording_fields(call: Call, recording: Recording) -> dict[str, Any]:
    """Return the event fields of a recording that is archived, or will be."""
    return {
        "recording_url": recording_url(call, recording),
        "recording_purpose": recording.purpose,
        "recording_duration": (
            round(recording.duration_ms / 1000) if recording.state == "archived" else None
        ),
    }


def recording_url(call: Call, recording: Recording) -> str:
    """Return the URL at which a recording is archived, or will be."""
    name = parse_recording_name(recording.name)
    assert name is not None, recording.name  # noqa: S101 - narrows for mypy; the name is ours
    return (call.recording_destination.base if call.recording_destination else "") + name.path


def emit_transfer(call: Call, transfer: Transfer, now: int) -> tuple[Call, EmitEvent]:
    """Emit a transfer's state."""
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
        requested_by=transfer.ended_by or transfer.source_agent or None,
    )


def emit_conference(call: Call, conference: Conference, now: int) -> tuple[Call, EmitEvent]:
    """Emit a conference's state."""
    return emit(
        call,
        "conference",
        now,
        session_id=conference.id,
        session_state=conference.state,
        reason=conference.reason or None,
        agent_id=conference.requested_by or None,
        requested_by=conference.requested_by or None,
    )


def emit_member(
    call: Call, conference: Conference, member: Member, now: int
) -> tuple[Call, EmitEvent]:
    """Emit the state of a conference's member."""
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
        requested_by=member.removed_by or None,
    )
