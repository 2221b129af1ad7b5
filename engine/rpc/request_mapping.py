"""Validation of control requests and their mapping to events of the core."""

from engine.calls.model.requests import AddMemberRequested, TransferRequested
from wire.control import AddMember, InitTransfer, TransferTarget
from wire.decoding.errors import BadInput
from wire.party import Party
from wire.tree import Limits, check_party, check_url


def transfer_request(body: InitTransfer, limits: Limits) -> TransferRequested:
    """Map a transfer request to its event; raises BadInput."""
    _check_hold_music(body.moh_audio_url, limits)
    return TransferRequested(
        mode=body.transfer_mode,
        source=body.source_channel_id,
        customer=body.customer_channel_id,
        party=_target_party(body.target, limits),
        ring_s=body.timeout,
        source_agent=body.source_agent_id or "",
        target_name=body.target.agent_name or "",
        music=body.moh_audio_url,
    )


def member_request(body: AddMember, limits: Limits) -> AddMemberRequested:
    """Map the request for a new member to its event; raises BadInput."""
    _check_hold_music(body.moh_audio_url, limits)
    names = body.target_agent_names or {}
    if unknown := names.keys() - set(body.target_agent_ids):
        raise BadInput("targetAgentNames", f"no targetAgentIds has {min(unknown)}")
    party, agent = _invited_party(body, limits)
    return AddMemberRequested(
        party=party,
        by=body.requested_by_agent_id,
        ring_s=body.timeout,
        session=body.conference_session_id or "",
        agent_id=agent,
        name=names.get(agent, ""),
        music=body.moh_audio_url,
        source=body.source_channel_id or "",
        customer=body.customer_channel_id or "",
        source_agent=body.source_agent_id or "",
    )


def _target_party(target: TransferTarget, limits: Limits) -> str:
    if target.kind == "agent":
        if target.agent_id is None:
            raise BadInput("target.agentId", "required if kind is agent")
        return str(Party.agent(target.agent_id))
    if target.number is None:
        raise BadInput("target.number", "required if kind is number")
    check_party(target.number, limits, "target.number")
    return target.number


def _invited_party(body: AddMember, limits: Limits) -> tuple[str, str]:
    number = body.target_external_number
    if number is None:
        if not body.target_agent_ids:
            raise BadInput(
                "targetAgentIds", "one of targetAgentIds or targetExternalNumber is required"
            )
        return str(Party.agent(body.target_agent_ids[0])), body.target_agent_ids[0]
    if body.target_agent_ids:
        raise BadInput("targetExternalNumber", "not allowed together with targetAgentIds")
    check_party(number, limits, "targetExternalNumber")
    return number, ""


def _check_hold_music(url: str | None, limits: Limits) -> None:
    if url is not None:
        check_url(url, limits, "mohAudioUrl")
