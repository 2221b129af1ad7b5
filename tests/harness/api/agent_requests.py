"""What an agent may request of calls, and of another agent's."""

from typing import Any

from tests.harness.api.cdrs.records import CUSTOMER
from tests.harness.rpc.conversation import Conversation

BASE = "/srmain/voice"

OTHER = "1002"


def requests_in(talk: Conversation, agent: str) -> dict[str, dict[str, Any]]:
    """Return every request about a call, in the name of an agent, by path."""
    call = {"callId": talk.call}
    on_leg = {**call, "channelId": talk.customer}
    channels = {"customerChannelId": talk.customer, "sourceChannelId": talk.agent}
    transfer = {**call, "transferSessionId": f"{talk.call}.t9"}
    conference = {**call, "conferenceSessionId": f"{talk.call}.c9"}
    return {
        "active-call-details": call,
        "dial": {**call, "target": CUSTOMER},
        "hangup": call,
        "mute": on_leg,
        "unmute": on_leg,
        "hold": on_leg,
        "unhold": on_leg,
        "transfer/init": {
            **call,
            **channels,
            "transferMode": "blind",
            "sourceAgentId": agent,
            "target": {"kind": "number", "number": CUSTOMER},
        },
        "transfer/complete": {
            **transfer,
            "completedByAgentId": agent,
            "reason": "manual_complete",
        },
        "transfer/cancel": {**transfer, "cancelledByAgentId": agent, "reason": "source_cancel"},
        "transfer/status": transfer,
        "conference/add-members": {
            **call,
            **channels,
            "requestedByAgentId": agent,
            "sourceAgentId": agent,
            "targetExternalNumber": CUSTOMER,
        },
        "conference/kick": {**conference, "requesterAgentId": agent, "targetAgentId": OTHER},
        "conference/leave": {**conference, "agentId": agent, "channelId": talk.agent},
        "conference/coach": {**conference, "channelId": talk.agent},
        "conference/members": call,
    }
