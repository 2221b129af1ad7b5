"""Control requests: the input must be valid; the call must exist, live, and be the account's."""

from typing import Any

import msgspec
import pytest

from engine.rpc.request_mapping import transfer_request
from tests.harness.rpc.conversation import AGENT, talking
from tests.harness.rpc.scene import RpcScene
from tests.harness.until import until
from wire.control import InitTransfer
from wire.tree import Limits

LEG = {"channelId": "x"}
MUTE = {**LEG, "direction": "in"}
DIAL = {"target": "+4733333333"}
TARGET = {"kind": "agent", "agentId": "1002"}
LEGS = {"customerChannelId": "x", "sourceChannelId": "y"}
TRANSFER = {"transferMode": "blind", **LEGS, "target": TARGET}
COMPLETE = {"completedByAgentId": AGENT, "reason": "manual_complete"}
CANCEL = {"cancelledByAgentId": AGENT, "reason": "source_cancel"}
ADD = {"requestedByAgentId": AGENT, "targetAgentIds": ["1002"]}
OUTSIDE = {"requestedByAgentId": AGENT, "targetExternalNumber": "+4733333333"}
SESSION = {"conferenceSessionId": "s"}
KICK = {**SESSION, "requesterAgentId": AGENT, "targetChannelId": "x"}
LEAVE = {**SESSION, "agentId": AGENT, "channelId": "x"}
COACH = {**SESSION, "channelId": "x"}
GOOD = [
    ("mute", MUTE),
    ("unmute", LEG),
    ("hold", LEG),
    ("unhold", LEG),
    ("dial", DIAL),
    ("hangup", {}),
    ("hangup", {"channelId": "x"}),
    ("hangup", {"agentId": AGENT}),
    ("transfers", TRANSFER),
    ("transfers/t/complete", COMPLETE),
    ("transfers/t/cancel", CANCEL),
    ("conference/members", ADD),
    ("conference/members", OUTSIDE),
    ("conference/members", {**ADD, **LEGS}),
    ("conference/kick", KICK),
    ("conference/leave", LEAVE),
    ("conference/coach", COACH),
]
FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("mute", {}, "channelId"),
    ("mute", {"channelId": ""}, "channelId"),
    ("mute", {"channelId": "x" * 150}, "channelId"),
    ("mute", {**MUTE, "direction": "IN"}, "direction"),
    ("unmute", MUTE, "direction"),
    ("hold", {"channelId": 1}, "channelId"),
    ("unhold", {**LEG, "account": "a b"}, "account"),
    ("dial", {}, "target"),
    ("dial", {"target": "1001&PJSIP/1002"}, "target"),
    ("dial", {"target": "sip:bob@evil.example"}, "target"),
    ("dial", {"target": "agent:../x"}, "target"),
    ("dial", {**DIAL, "timeout": 0}, "timeout"),
    ("dial", {**DIAL, "timeout": 601}, "timeout"),
    ("dial", {**DIAL, "callerId": '"Bob" <1>'}, "callerId"),
    ("hangup", {"agentId": "a b"}, "agentId"),
    ("hangup", {"by": "me"}, "by"),
    ("transfers", {**LEGS, "target": TARGET}, "transferMode"),
    ("transfers", {**TRANSFER, "transferMode": "warm"}, "transferMode"),
    ("transfers", {**TRANSFER, "target": "1002"}, "target"),
    ("transfers", {**TRANSFER, "target": {"kind": "queue"}}, "target.kind"),
    ("transfers", {**TRANSFER, "target": {"kind": "agent"}}, "target.agentId"),
    ("transfers", {**TRANSFER, "target": {"kind": "agent", "number": "+4711"}}, "target.agentId"),
    ("transfers", {**TRANSFER, "target": {**TARGET, "agentId": "a/b"}}, "target.agentId"),
    ("transfers", {**TRANSFER, "target": {"kind": "number"}}, "target.number"),
    ("transfers", {**TRANSFER, "target": {**TARGET, "kind": "number"}}, "target.number"),
    (
        "transfers",
        {**TRANSFER, "target": {"kind": "number", "number": "sip:a@evil.example"}},
        "target.number",
    ),
    ("transfers", {**TRANSFER, "mohAudioUrl": "http://example.com/a"}, "mohAudioUrl"),
    ("transfers", {**TRANSFER, "mohAudioUrl": "file:///etc/passwd"}, "mohAudioUrl"),
    ("transfers", {**TRANSFER, "timeout": -1}, "timeout"),
    ("transfers/t/complete", {**COMPLETE, "reason": "bored"}, "reason"),
    ("transfers/t/complete", {"reason": "manual_complete"}, "completedByAgentId"),
    ("transfers/t/cancel", {**CANCEL, "reason": "manual_complete"}, "reason"),
    ("transfers/t/cancel", {"reason": "source_cancel"}, "cancelledByAgentId"),
    ("conference/members", {}, "requestedByAgentId"),
    ("conference/members", {"requestedByAgentId": AGENT}, "targetAgentIds"),
    ("conference/members", {**ADD, "targetAgentIds": []}, "targetAgentIds"),
    ("conference/members", {**ADD, "targetAgentIds": ["1", "2"]}, "targetAgentIds"),
    ("conference/members", {**ADD, "targetAgentIds": ["a/b"]}, "targetAgentIds[0]"),
    (
        "conference/members",
        {**ADD, "targetExternalNumber": "+4733333333"},
        "targetExternalNumber",
    ),
    (
        "conference/members",
        {**OUTSIDE, "targetExternalNumber": "sip:a@evil.example"},
        "targetExternalNumber",
    ),
    ("conference/members", {**ADD, "targetAgentNames": {"1003": "Bo"}}, "targetAgentNames"),
    ("conference/members", {**OUTSIDE, "targetAgentNames": {"1": "Bo"}}, "targetAgentNames"),
    ("conference/members", {**ADD, "mohAudioUrl": "http://example.com/a"}, "mohAudioUrl"),
    ("conference/kick", {**SESSION, "requesterAgentId": AGENT}, "targetChannelId"),
    ("conference/kick", {"requesterAgentId": AGENT}, "conferenceSessionId"),
    ("conference/leave", {**SESSION, "agentId": AGENT}, "channelId"),
]


@pytest.mark.parametrize(("path", "body", "fault"), FAULTS, ids=range(len(FAULTS)))
async def test_bad_requests_name_their_fault(
    scene: RpcScene, path: str, body: dict[str, Any], fault: str
) -> None:
    """An invalid request gets 400 with the path of the field; the call does not change."""
    call = await scene.start_call()
    await until(lambda: scene.pbx.lines == ["POST channels/create"], what="the call's first leg")
    status, answer = await scene.request("POST", f"/calls/{call}/{path}", body)
    assert (status, [each["path"] for each in answer["errors"]]) == (400, [fault])
    assert answer["errors"][0]["message"]
    assert scene.pbx.lines == ["POST channels/create"]


@pytest.mark.parametrize(("path", "body"), GOOD, ids=range(len(GOOD)))
async def test_calls_that_are_not_there(scene: RpcScene, path: str, body: dict[str, Any]) -> None:
    """Unknown calls and those of other accounts get the same 404; ended calls get 409."""
    conversation = await talking(scene)
    theirs = {**body, "account": "other"}
    _, unknown = await scene.request("POST", f"/calls/{conversation.call[:-1]}_/{path}", body)
    status, answer = await conversation.post(path, **theirs)
    assert (status, answer["code"]) == (404, "not_found")
    assert answer | {"detail": ""} == unknown | {"detail": ""}
    assert "state" in await conversation.shown()
    await conversation.ends()
    assert await conversation.refused(path, **theirs) == (404, "not_found")
    assert await conversation.refused(path, **body) == (409, "call_ended")


@pytest.mark.parametrize("path", ["mute", "unmute", "hold", "unhold", "hangup"])
async def test_legs_that_are_not_there(scene: RpcScene, path: str) -> None:
    """An unknown channel and a channel of another call get 404."""
    conversation, other = await talking(scene), await talking(scene)
    for leg in ("x", other.agent, f"{conversation.call}.l9"):
        assert await conversation.refused(path, channelId=leg) == (404, "no_such_leg")


@pytest.mark.parametrize(
    ("target", "party"),
    [
        ({**TARGET, "number": "+4733333333"}, "agent:1002"),
        ({**TARGET, "kind": "number", "number": "+4733333333"}, "+4733333333"),
    ],
)
def test_the_other_kinds_field_of_a_target_is_ignored(target: dict[str, str], party: str) -> None:
    """The kind of a transfer decides its target; other given fields have no effect."""
    body = msgspec.convert({**TRANSFER, "target": target}, InitTransfer)
    assert transfer_request(body, Limits()).party == party
