"""Transfers over the RPC: start, complete, cancel, show."""

from typing import Any

import pytest

from tests.harness.rpc.conversation import Conversation, talking
from tests.harness.rpc.preparation import watched
from tests.harness.rpc.scene import RpcScene

TARGET = {"kind": "agent", "agentId": "1002", "agentName": "Ada"}


def wanted(conversation: Conversation, **more: Any) -> dict[str, Any]:
    """Return the request to transfer the customer from agent 1001 to agent 1002."""
    body = {
        "transferMode": "attended",
        "sourceAgentId": "1001",
        "customerChannelId": conversation.customer,
        "sourceChannelId": conversation.agent,
        "target": TARGET,
    }
    return {**body, **more}


async def test_a_transfer_starts(scene: RpcScene) -> None:
    """The response is the session with source, customer and target; the call shows it too."""
    conversation = await talking(scene)
    view = await conversation.posted("transfers", **wanted(conversation))
    assert view["startedMs"] > 0
    assert view | {"startedMs": 0} == {
        "transferSessionId": view["transferSessionId"],
        "callId": conversation.call,
        "transferMode": "attended",
        "state": "starting",
        "target": "agent:1002",
        "targetName": "Ada",
        "sourceAgentId": "1001",
        "sourceChannelId": conversation.agent,
        "customerChannelId": conversation.customer,
        "targetChannelId": view["targetChannelId"],
        "startedMs": 0,
    }
    assert (await conversation.shown())["transfers"] == [view]
    assert await conversation.shown(f"/transfers/{view['transferSessionId']}") == view


async def test_a_target_may_be_a_number(scene: RpcScene) -> None:
    """Kind `number` dials a number."""
    conversation = await talking(scene)
    target = {"kind": "number", "number": "+4733333333"}
    view = await conversation.posted(
        "transfers", **wanted(conversation, target=target, transferMode="blind")
    )
    assert (view["target"], view["transferMode"]) == ("+4733333333", "blind")
    conversation.rings(view["targetChannelId"])
    await conversation.does(f"DELETE channels/{conversation.agent}")


async def test_a_transfer_requested_again_is_the_same(scene: RpcScene) -> None:
    """The same request returns the active session; a different one is rejected."""
    conversation = await talking(scene)
    first = await conversation.posted("transfers", **wanted(conversation))
    assert await conversation.posted("transfers", **wanted(conversation)) == first
    assert len((await conversation.shown())["transfers"]) == 1
    other = wanted(conversation, target={"kind": "agent", "agentId": "1003"})
    assert await conversation.refused("transfers", **other) == (409, "transfer_in_progress")


async def test_a_transfer_is_completed(scene: RpcScene) -> None:
    """The target has answered; the session names who completed it and why."""
    conversation = await talking(scene)
    started = await conversation.posted("transfers", **wanted(conversation))
    conversation.answers(started["targetChannelId"])
    path = f"transfers/{started['transferSessionId']}"
    assert (await conversation.shown(f"/{path}"))["state"] == "answered"
    body = {"completedByAgentId": "1001", "reason": "manual_complete"}
    done = await conversation.posted(f"{path}/complete", **body)
    assert (done["state"], done["endedBy"], done["reason"]) == (
        "completed",
        "1001",
        "manual_complete",
    )
    await conversation.does(f"DELETE channels/{conversation.agent}")
    assert await conversation.posted(f"{path}/complete", **body) == done
    canceling = {"cancelledByAgentId": "1001", "reason": "source_cancel"}
    assert await conversation.posted(f"{path}/cancel", **canceling) == done


async def test_a_transfer_is_canceled(scene: RpcScene) -> None:
    """Canceled while the target rings: the target is hung up, customer and agent are bridged."""
    conversation = await talking(scene)
    started = await conversation.posted("transfers", **wanted(conversation))
    conversation.rings(started["targetChannelId"])
    path = f"transfers/{started['transferSessionId']}"
    assert (await conversation.shown(f"/{path}"))["state"] == "ringback"
    body = {"cancelledByAgentId": "1001", "reason": "source_cancel"}
    done = await conversation.posted(f"{path}/cancel", **body)
    assert (done["state"], done["reason"]) == ("canceled", "source_cancel")
    await conversation.does(f"DELETE channels/{started['targetChannelId']}")
    assert await conversation.posted(f"{path}/cancel", **body) == done
    assert (await conversation.shown())["state"] == "bridged"


async def test_a_transfer_of_an_ended_call_can_be_looked_at(scene: RpcScene) -> None:
    """The last state stays readable; control requests are rejected."""
    conversation = await talking(scene)
    started = await conversation.posted("transfers", **wanted(conversation))
    path = f"transfers/{started['transferSessionId']}"
    await conversation.ends()
    assert (await conversation.shown(f"/{path}"))["state"] == "abandoned"
    body = {"completedByAgentId": "1001", "reason": "manual_complete"}
    assert await conversation.refused(f"{path}/complete", **body) == (409, "call_ended")


@pytest.mark.parametrize("leg", ["customerChannelId", "sourceChannelId"])
async def test_unknown_legs_are_not_transferred(scene: RpcScene, leg: str) -> None:
    """Source and customer must be legs of the call."""
    conversation = await talking(scene)
    body = wanted(conversation, **{leg: "no.such"})
    assert await conversation.refused("transfers", **body) == (404, "no_such_leg")


async def test_an_unknown_session_is_not_found(scene: RpcScene) -> None:
    """Showing, completing and canceling an unknown session get 404."""
    conversation = await talking(scene)
    lost = f"/calls/{conversation.call}/transfers/x"
    complete = {"completedByAgentId": "1001", "reason": "manual_complete"}
    cancel = {"cancelledByAgentId": "1001", "reason": "source_cancel"}
    missing = (404, "no_such_session")
    assert await scene.problem("GET", lost) == missing
    assert await scene.problem("POST", f"{lost}/complete", complete) == missing
    assert await scene.problem("POST", f"{lost}/cancel", cancel) == missing


@pytest.mark.parametrize("mode", ["attended", "blind"])
async def test_an_agent_who_can_not_be_called_is_refused(scene: RpcScene, mode: str) -> None:
    """An unknown or offline agent: both parties stay connected, and no leg is created."""
    conversation = await talking(scene)
    async with watched(scene, "pbx1", a1003="offline", a1002="online"):
        for agent_id, problem in (
            ("1009", (400, "unknown_agent")),
            ("1003", (409, "agent_offline")),
        ):
            target = {"kind": "agent", "agentId": agent_id}
            body = wanted(conversation, target=target, transferMode=mode)
            assert await conversation.refused("transfers", **body) == problem
        assert len((await conversation.shown())["legs"]) == 2
        await conversation.posted("transfers", **wanted(conversation, transferMode=mode))


async def test_an_agent_of_unknown_presence_is_called(scene: RpcScene) -> None:
    """Only the engine that watches registrations knows who is offline."""
    conversation = await talking(scene)
    target = {"kind": "agent", "agentId": "1009"}
    await conversation.posted("transfers", **wanted(conversation, target=target))


async def test_a_transfer_to_a_party_of_the_call_is_refused(scene: RpcScene) -> None:
    """No phone rings for itself."""
    conversation = await talking(scene)
    target = {"kind": "agent", "agentId": "1001"}
    body = wanted(conversation, target=target)
    assert await conversation.refused("transfers", **body) == (409, "already_a_party")
