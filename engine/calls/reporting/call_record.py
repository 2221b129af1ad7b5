"""Builds the call record (CDR) of an ended call, which its last event carries."""

from collections.abc import Sequence

from engine.calls.model import causes
from engine.calls.model.call import Call, GatheredInput
from engine.calls.model.leg import EndedLeg, Leg
from engine.calls.model.sessions import Conference, Member, Transfer
from engine.calls.model.streams import EndedStream
from engine.calls.reporting.call_events import duration_fields, end_reason, recording_url
from wire.call_id_format import call_of, shard_of
from wire.events.record import (
    CallRecord,
    ConferenceRecord,
    GatherRecord,
    LegRecord,
    MemberRecord,
    RecordingRecord,
    StreamRecord,
    TakeoverRecord,
    TransferRecord,
)
from wire.party import Party
from wire.shard import NO_SHARD


def build_call_record(call: Call) -> CallRecord:
    """Return the record of a call whose legs have all ended."""
    shard = shard_of(call.id) or NO_SHARD
    times = _times(call.created_ms, call.answered_ms, call.ended_ms, call.held_ms, _talk_ms(call))
    legs = sorted(call.ended_legs, key=lambda ended: ended.leg.requested_ms)
    return CallRecord(
        call_id=call.id,
        account_id=call.account,
        node=shard.node,
        slot=shard.slot,
        direction=call.direction,
        from_=call.from_,
        to=call.to,
        caller_id=call.caller_id or call.from_,
        dialed_numbers=_dialed_numbers(call, legs),
        status=call.status,
        created_ms=call.created_ms,
        answered_ms=call.answered_ms,
        ended_ms=call.ended_ms,
        **times,
        legs=tuple(_leg(call, each) for each in legs),
        legs_omitted=call.ended_legs_omitted,
        hangup_cause=call.cause,
        sip_code=call.sip_code or None,
        ended_by=call.ended_by or None,
        ended_by_channel_id=call.ended_by_leg or None,
        reason=end_reason(call),
        unseen_ms=call.unseen_ms,
        answered_by=call.answered_by,
        transfers=tuple(map(_transfer, call.transfers)),
        conferences=tuple(map(_conference, call.conferences)),
        recordings=_recordings(call),
        gathered=tuple(map(_gather, call.gathered)),
        streams=tuple(_stream(call, each) for each in call.ended_streams),
        labels=call.labels,
        agent_id=call.agent_id or None,
        reference_id=call.reference_id or None,
        contact=call.contact,
        privacy=call.privacy,
        diversion=call.diversion,
        custom_data=call.custom_data,
        media_fault=call.first_media_fault,
        caller_name=call.caller_name,
        takeovers=tuple(
            TakeoverRecord(each.at_ms, each.engine, each.uncontrolled_ms) for each in call.takeovers
        ),
    )


def _times(
    started_ms: int, answered_ms: int, ended_ms: int, held_ms: int, talk_ms: int
) -> dict[str, int]:
    """Split a duration into ringing, talking, hold and waiting. Clocks may differ a bit."""
    duration = duration_fields(answered_ms, ended_ms)
    answered_duration_ms = duration["duration_ms"]
    held_ms = min(held_ms, answered_duration_ms)  # it may have ended unnoticed before a hold
    talk_ms = max(0, min(talk_ms, answered_duration_ms - held_ms))
    return {
        "ring_ms": max(0, (answered_ms or ended_ms) - started_ms),
        "talk_ms": talk_ms,
        "hold_ms": held_ms,
        "wait_ms": max(0, answered_duration_ms - held_ms - talk_ms),
        "answered_duration_ms": answered_duration_ms,
        "answered_duration": duration["duration"],
    }


def _talk_ms(call: Call) -> int:
    since_ms = call.talking_since_ms
    return call.talk_ms + (max(0, call.ended_ms - since_ms) if since_ms else 0)


def _dialed_numbers(call: Call, legs: Sequence[EndedLeg]) -> tuple[str, ...]:
    """Return the numbers that were actually called, without duplicates."""
    called = (call.to,) if call.direction == "inbound" else ()
    outbound = (
        each
        for each in legs
        if call_of(each.leg.id) is not None and not each.reason and not each.leg.replaces
    )
    numbers = (each.leg.party for each in outbound if Party.parse(each.leg.party).is_by_trunk)
    return tuple(dict.fromkeys((*called, *numbers)))


def _leg(call: Call, ended: EndedLeg) -> LegRecord:
    leg = ended.leg
    times = _times(leg.requested_ms, leg.answered_ms, ended.ended_ms, leg.held_ms, leg.talk_ms)
    is_main = leg.id == call.main and not leg.answered_ms
    return LegRecord(
        channel_id=leg.id,
        party=leg.party,
        status=call.status if is_main else ended.status,
        requested_ms=leg.requested_ms,
        ended_ms=ended.ended_ms,
        **times,
        answered_ms=leg.answered_ms,
        hangup_cause=ended.cause,
        sip_code=ended.sip_code or None,
        agent_id=None if leg.is_local_channel else leg.agent or None,  # counted in its own call
        agent_name=_agent_name(call, leg),
        reference_id=leg.reference_id,
        answered_by=leg.answered_by,
        reason=ended.reason or causes.reason(ended.cause, is_answered=leg.answered_ms > 0) or None,
        ended_by=ended.ended_by or None,
        unseen_ms=ended.unseen_ms,
    )


def _agent_name(call: Call, leg: Leg) -> str | None:
    """Return the agent's name from the request that called its leg, or else from the directory."""
    for transfer in call.transfers:
        if transfer.target == leg.id and transfer.target_name:
            return transfer.target_name
    members = (member for each in call.conferences for member in each.members)
    return next((m.name for m in members if m.leg == leg.id and m.name), leg.agent_name or None)


def _recordings(call: Call) -> tuple[RecordingRecord, ...]:
    """Return the recordings; none of them runs any more, also if its end was never reported."""
    latest = {recording_url(call, each): each for each in call.recordings}  # parts share a file
    return tuple(
        RecordingRecord(
            url, each.purpose, "ended" if each.state == "running" else each.state, each.duration_ms
        )
        for url, each in latest.items()
    )


def _gather(given: GatheredInput) -> GatherRecord:
    has_spoken = given.confidence is not None
    return GatherRecord(
        given.at_ms,
        given.leg,
        given.digits,
        given.reason,
        given.speech if has_spoken else None,
        given.confidence,
    )


def _stream(call: Call, ended: EndedStream) -> StreamRecord:
    """Return the record of a stream; its call may have ended unnoticed before it."""
    activity = ended.activity
    started_ms = min(ended.started_ms, call.ended_ms)
    latencies_ms = sorted(activity.latencies_ms)
    return StreamRecord(
        stream_id=ended.id,
        protocol=ended.protocol,
        host=ended.host,
        fork=ended.is_fork,
        started_ms=started_ms,
        connected_ms=activity.connected_ms,
        ended_ms=max(started_ms, min(ended.ended_ms, call.ended_ms)),
        heard_ms=ended.heard_ms,
        reason=ended.reason,
        resumes=activity.resumes,
        turns=activity.turns,
        barge_ins=activity.barge_ins,
        median_latency_ms=latencies_ms[len(latencies_ms) // 2] if latencies_ms else None,
        max_latency_ms=activity.max_latency_ms if latencies_ms else None,
    )


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
        removed_by=member.removed_by or None,
    )
