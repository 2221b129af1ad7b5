"""The record of a call that has ended, as its last event tells it."""

from collections.abc import Sequence

from engine.calls.model import causes
from engine.calls.model.call import Call, CollectedDigits
from engine.calls.model.ids import call_of, slot_and_node
from engine.calls.model.leg import EndedLeg
from engine.calls.model.sessions import Conference, Member, Transfer
from engine.calls.reporting.call_events import recording_url
from wire.record import (
    CallRecord,
    ConferenceRecord,
    GatherRecord,
    LegRecord,
    MemberRecord,
    RecordingRecord,
    TransferRecord,
)


def build_call_record(call: Call) -> CallRecord:
    """Tell all of a call whose legs have gone."""
    slot, node = slot_and_node(call.id) or (0, "")
    ring_ms, talk_ms = _shares(call.created_ms, call.answered_ms, call.ended_ms, call.held_ms)
    legs = sorted(call.ended_legs, key=lambda past: past.leg.requested_ms)  # kept as they ended
    return CallRecord(
        call_id=call.id,
        account_id=call.account,
        node=node,
        slot=slot,
        direction=call.direction,
        from_=call.from_,
        to=call.to,
        caller_id=call.caller_id or call.from_,
        dialed_numbers=_dialed(call, legs),
        status=call.status,
        created_ms=call.created_ms,
        answered_ms=call.answered_ms,
        ended_ms=call.ended_ms,
        ring_ms=ring_ms,
        talk_ms=talk_ms,
        hold_ms=call.held_ms,
        legs=tuple(_leg(call, past) for past in legs),
        legs_omitted=call.ended_legs_omitted,
        hangup_cause=call.cause,
        sip_code=call.sip_code or None,
        ended_by=call.ended_by or None,
        reason=call.reason or causes.reason(call.cause) or None,
        answered_by=call.answered_by,
        transfers=tuple(map(_transfer, call.transfers)),
        conferences=tuple(map(_conference, call.conferences)),
        recordings=_recordings(call),
        gathered=tuple(map(_gathered, call.collected)),
        labels=call.labels,
        contact=call.contact,
        custom_data=call.custom_data,
    )


def _shares(begun_ms: int, answered_ms: int, ended_ms: int, held_ms: int) -> tuple[int, int]:
    """Part a life into ringing and talking; what is left was on hold. Clocks may differ a bit."""
    if not answered_ms:
        return max(0, ended_ms - begun_ms), 0
    return max(0, answered_ms - begun_ms), max(0, ended_ms - answered_ms - held_ms)


def _dialed(call: Call, legs: Sequence[EndedLeg]) -> tuple[str, ...]:
    """List the numbers that were really called, each once."""
    came_in = (call.to,) if call.direction == "inbound" else ()
    ours = (past for past in legs if call_of(past.leg.id) is not None and not past.reason)
    numbers = (each.leg.party for each in ours if not each.leg.party.startswith("agent:"))
    return tuple(dict.fromkeys((*came_in, *numbers)))


def _leg(call: Call, past: EndedLeg) -> LegRecord:
    leg = past.leg
    ring_ms, talk_ms = _shares(leg.requested_ms, leg.answered_ms, past.ended_ms, leg.held_ms)
    is_main = leg.id == call.main and not leg.answered_ms
    return LegRecord(
        channel_id=leg.id,
        party=leg.party,
        status=call.status if is_main else past.status,
        requested_ms=leg.requested_ms,
        ended_ms=past.ended_ms,
        ring_ms=ring_ms,
        talk_ms=talk_ms,
        hold_ms=leg.held_ms,
        answered_ms=leg.answered_ms,
        hangup_cause=past.cause,
        sip_code=past.sip_code or None,
        agent_id=leg.agent or None,
        agent_name=_name_of(call, leg.id),
        reference_id=leg.reference_id,
        answered_by=leg.answered_by,
        reason=past.reason or None,
    )


def _name_of(call: Call, leg: str) -> str | None:
    """Find the name that an agent was called by."""
    for transfer in call.transfers:
        if transfer.target == leg and transfer.target_name:
            return transfer.target_name
    members = (member for each in call.conferences for member in each.members)
    return next((m.name for m in members if m.leg == leg and m.name), None)


def _recordings(call: Call) -> tuple[RecordingRecord, ...]:
    latest = {recording_url(call, tape): tape for tape in call.recordings}
    return tuple(
        RecordingRecord(url, tape.purpose, tape.state, tape.duration_ms)
        for url, tape in latest.items()
    )


def _gathered(gathered: CollectedDigits) -> GatherRecord:
    return GatherRecord(gathered.at_ms, gathered.leg, gathered.digits, gathered.reason)


def _transfer(transfer: Transfer) -> TransferRecord:
    return TransferRecord(
        session_id=transfer.id,
        mode=transfer.mode,
        state=transfer.state,
        party=transfer.party,
        source_channel_id=transfer.source,
        customer_channel_id=transfer.customer,
        target_channel_id=transfer.target,
        started_ms=transfer.started_ms,
        ended_ms=transfer.ended_ms,
        source_agent_id=transfer.source_agent or None,
        target_name=transfer.target_name or None,
        reason=transfer.reason or None,
        ended_by=transfer.ended_by or None,
    )


def _conference(conference: Conference) -> ConferenceRecord:
    return ConferenceRecord(
        session_id=conference.id,
        state=conference.state,
        members=tuple(map(_member, conference.members)),
        started_ms=conference.started_ms,
        ended_ms=conference.ended_ms,
        requested_by=conference.requested_by or None,
        reason=conference.reason or None,
    )


def _member(member: Member) -> MemberRecord:
    return MemberRecord(
        channel_id=member.leg,
        party=member.party,
        state=member.state,
        agent_id=member.agent_id or None,
        agent_name=member.name or None,
        reason=member.reason or None,
        joined_ms=member.joined_ms,
        left_ms=member.left_ms,
    )
