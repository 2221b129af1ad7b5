"""Examples of the OpenAPI document: a call between a customer and agent 1001."""

CALL = "3-pbx1-0195c2f0a1b24c"
LEG = {"channelId": f"{CALL}.l0"}
ON_LEG = {"callId": CALL, **LEG}
ORIGINATE = {
    "from": "+4721930000",
    "to": "+4722222222",
    "action": {
        "type": "say",
        "data": {"text": "Press one for sales."},
        "action": {
            "type": "gather",
            "data": {"maxDigits": 1, "timeout": 5000},
            "action": "https://example.com/menu",
        },
    },
    "timeout": 30,
    "recordCall": {"enable": True},
    "customData": {"order": 4711},
}
TRANSFER_BODY = {
    "transferMode": "attended",
    "sourceAgentId": "1001",
    "customerChannelId": f"{CALL}.l0",
    "sourceChannelId": f"{CALL}.l1",
    "target": {"kind": "agent", "agentId": "1002", "agentName": "Ada"},
}
TRANSFER = {"callId": CALL, "transferSessionId": f"{CALL}.t2"}
COMPLETE = {**TRANSFER, "completedByAgentId": "1001", "reason": "manual_complete"}
CANCEL = {**TRANSFER, "cancelledByAgentId": "1001", "reason": "source_cancel"}
ADD = {
    "callId": CALL,
    "requestedByAgentId": "1001",
    "customerChannelId": f"{CALL}.l0",
    "sourceChannelId": f"{CALL}.l1",
    "sourceAgentId": "1001",
    "targetAgentIds": ["1002"],
    "targetAgentNames": {"1002": "Ada"},
}
CONFERENCE = {"callId": CALL, "conferenceSessionId": f"{CALL}.f2"}
KICK = {**CONFERENCE, "requesterAgentId": "1001", "targetAgentId": "1002"}
LEAVE = {**CONFERENCE, "agentId": "1002", "channelId": f"{CALL}.l2"}
COACH = {**CONFERENCE, "channelId": f"{CALL}.l2", "coachedChannelId": f"{CALL}.l1"}
