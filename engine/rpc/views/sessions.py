"""Views of transfers and conferences."""

from engine.calls.model.call import Call
from engine.calls.model.sessions import Conference, Member, Transfer
from wire.control import ConferenceView, MemberView, TransferView


def transfer_view(call: Call, transfer: Transfer) -> TransferView:
    return TransferView(
        transfer_session_id=transfer.id,
        call_id=call.id,
        transfer_mode=transfer.mode,
        state=transfer.state,
        target=transfer.party,
        source_channel_id=transfer.source,
        customer_channel_id=transfer.customer,
        target_channel_id=transfer.target,
        reason=transfer.reason,
        source_agent_id=transfer.source_agent,
        target_name=transfer.target_name,
        ended_by=transfer.ended_by,
        started_ms=transfer.started_ms,
        ended_ms=transfer.ended_ms,
    )


def conference_view(call: Call, conference: Conference) -> ConferenceView:
    """Show a conference with its present and former members."""
    return ConferenceView(
        conference_session_id=conference.id,
        call_id=call.id,
        state=conference.state,
        members=tuple(_member_view(call, each) for each in conference.members),
        requested_by_agent_id=conference.requested_by,
        reason=conference.reason,
        started_ms=conference.started_ms,
        ended_ms=conference.ended_ms,
    )


def _member_view(call: Call, member: Member) -> MemberView:
    leg = call.leg(member.leg)
    return MemberView(
        channel_id=member.leg,
        party=member.party,
        state=member.state,
        agent_id=member.agent_id or None,
        name=member.name,
        reason=member.reason,
        muted=leg.muted if leg else "",
        held=leg is not None and leg.is_held,
        coaches=member.coaches,
        joined_ms=member.joined_ms,
        left_ms=member.left_ms,
        removed_by=member.removed_by,
    )
