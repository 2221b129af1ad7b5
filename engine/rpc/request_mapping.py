"""What is asked of a call, checked beyond its shape and put as the core's events."""

from engine.calls.model.requests import AddMemberRequested, TransferRequested
from wire.control import AddMember, InitTransfer, TransferTarget
from wire.errors import BadInput
from wire.tree import Limits, check_party, check_url


def transfer_request(asked: InitTransfer, limits: Limits) -> TransferRequested:
    """Put a transfer's beginning as an event; raises BadInput."""
    _check_music(asked.moh_audio_url, limits)
    return TransferRequested(
        mode=asked.transfer_mode,
        source=asked.source_channel_id,
        customer=asked.customer_channel_id,
        party=_target(asked.target, limits),
        ring_s=asked.timeout,
        source_agent=asked.source_agent_id or "",
        target_name=asked.target.agent_name or "",
        music=asked.moh_audio_url,
    )


def member_request(asked: AddMember, limits: Limits) -> AddMemberRequested:
    """Put the invitation of a member as an event; raises BadInput."""
    _check_music(asked.moh_audio_url, limits)
    names = asked.target_agent_names or {}
    if unknown := names.keys() - set(asked.target_agent_ids):
        raise BadInput("targetAgentNames", f"no targetAgentIds has {min(unknown)}")
    party, agent = _invited(asked, limits)
    return AddMemberRequested(
        party=party,
        by=asked.requested_by_agent_id,
        ring_s=asked.timeout,
        session=asked.conference_session_id or "",
        agent_id=agent,
        name=names.get(agent, ""),
        music=asked.moh_audio_url,
    )


def _target(target: TransferTarget, limits: Limits) -> str:
    if target.kind == "agent":
        if target.agent_id is None:
            raise BadInput("target.agentId", "required when kind is agent")
        if target.number is not None:
            raise BadInput("target.number", "not when kind is agent")
        return f"agent:{target.agent_id}"
    if target.number is None:
        raise BadInput("target.number", "required when kind is number")
    if target.agent_id is not None:
        raise BadInput("target.agentId", "not when kind is number")
    check_party(target.number, limits, "target.number")
    return target.number


def _invited(asked: AddMember, limits: Limits) -> tuple[str, str]:
    number = asked.target_external_number
    if number is None:
        if not asked.target_agent_ids:
            raise BadInput(
                "targetAgentIds", "one of targetAgentIds or targetExternalNumber is required"
            )
        return f"agent:{asked.target_agent_ids[0]}", asked.target_agent_ids[0]
    if asked.target_agent_ids:
        raise BadInput("targetExternalNumber", "not together with targetAgentIds")
    check_party(number, limits, "targetExternalNumber")
    return number, ""


def _check_music(url: str | None, limits: Limits) -> None:
    if url is not None:
        check_url(url, limits, "mohAudioUrl")
