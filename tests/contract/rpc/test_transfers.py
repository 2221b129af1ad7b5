"""Transfers over the RPC: begun, completed, canceled, looked at while they last and after."""

from typing import Any

import pytest

from tests.contract.rpc.harness.bench import Bench
from tests.contract.rpc.harness.conversation import Conversation, talking

TARGET = {"kind": "agent", "agentId": "1002", "agentName": "Ada"}


def wanted(talk: Conversation, **more: Any) -> dict[str, Any]:
    """Ask for the customer to be handed from agent 1001 to agent 1002."""
    asked = {
        "transferMode": "attended",
        "sourceAgentId": "1001",
        "customerChannelId": talk.customer,
        "sourceChannelId": talk.agent,
        "target": TARGET,
    }
    return {**asked, **more}


async def test_a_transfer_begins(bench: Bench) -> None:
    """It is answered with a session that shows who is handed to whom, and the call shows it."""
    talk = await talking(bench)
    view = await talk.posted("transfers", **wanted(talk))
    assert view["startedMs"] > 0
    assert view | {"startedMs": 0} == {
        "transferSessionId": view["transferSessionId"],
        "callId": talk.call,
        "transferMode": "attended",
        "state": "starting",
        "target": "agent:1002",
        "targetName": "Ada",
        "sourceAgentId": "1001",
        "sourceChannelId": talk.agent,
        "customerChannelId": talk.customer,
        "targetChannelId": view["targetChannelId"],
        "startedMs": 0,
    }
    assert (await talk.shown())["transfers"] == [view]
    assert await talk.shown(f"/transfers/{view['transferSessionId']}") == view


async def test_a_target_may_be_a_number(bench: Bench) -> None:
    """Kind number calls a number."""
    talk = await talking(bench)
    target = {"kind": "number", "number": "+4733333333"}
    view = await talk.posted("transfers", **wanted(talk, target=target, transferMode="blind"))
    assert (view["target"], view["transferMode"]) == ("+4733333333", "blind")
    await talk.does(f"DELETE channels/{talk.agent}")


async def test_a_transfer_asked_again_is_the_same(bench: Bench) -> None:
    """While it goes on the same request gives the same session; another one is refused."""
    talk = await talking(bench)
    first = await talk.posted("transfers", **wanted(talk))
    assert await talk.posted("transfers", **wanted(talk)) == first
    assert len((await talk.shown())["transfers"]) == 1
    other = wanted(talk, target={"kind": "agent", "agentId": "1003"})
    assert await talk.refused("transfers", **other) == (409, "transfer_in_progress")


async def test_a_transfer_is_completed(bench: Bench) -> None:
    """Completed once the target has answered: the session says by whom and why, ever after."""
    talk = await talking(bench)
    begun = await talk.posted("transfers", **wanted(talk))
    talk.answers(begun["targetChannelId"])
    path = f"transfers/{begun['transferSessionId']}"
    assert (await talk.shown(f"/{path}"))["state"] == "answered"
    asked = {"completedByAgentId": "1001", "reason": "manual_complete"}
    done = await talk.posted(f"{path}/complete", **asked)
    assert (done["state"], done["endedBy"], done["reason"]) == (
        "completed",
        "1001",
        "manual_complete",
    )
    await talk.does(f"DELETE channels/{talk.agent}")
    assert await talk.posted(f"{path}/complete", **asked) == done
    canceling = {"cancelledByAgentId": "1001", "reason": "source_cancel"}
    assert await talk.posted(f"{path}/cancel", **canceling) == done


async def test_a_transfer_is_canceled(bench: Bench) -> None:
    """Canceled while the target rings: the target is let go, and customer and agent talk on."""
    talk = await talking(bench)
    begun = await talk.posted("transfers", **wanted(talk))
    talk.rings(begun["targetChannelId"])
    path = f"transfers/{begun['transferSessionId']}"
    assert (await talk.shown(f"/{path}"))["state"] == "ringback"
    asked = {"cancelledByAgentId": "1001", "reason": "source_cancel"}
    done = await talk.posted(f"{path}/cancel", **asked)
    assert (done["state"], done["reason"]) == ("canceled", "source_cancel")
    await talk.does(f"DELETE channels/{begun['targetChannelId']}")
    assert await talk.posted(f"{path}/cancel", **asked) == done
    assert (await talk.shown())["state"] == "bridged"


async def test_a_transfer_of_an_ended_call_can_be_looked_at(bench: Bench) -> None:
    """Its last state stays readable with the call's record; nothing can be asked of it any more."""
    talk = await talking(bench)
    begun = await talk.posted("transfers", **wanted(talk))
    path = f"transfers/{begun['transferSessionId']}"
    await talk.ends()
    assert (await talk.shown(f"/{path}"))["state"] == "abandoned"
    asked = {"completedByAgentId": "1001", "reason": "manual_complete"}
    assert await talk.refused(f"{path}/complete", **asked) == (409, "call_ended")


@pytest.mark.parametrize("leg", ["customerChannelId", "sourceChannelId"])
async def test_unknown_legs_are_not_transferred(bench: Bench, leg: str) -> None:
    """Who is handed over, and by whom, must be there."""
    talk = await talking(bench)
    asked = wanted(talk, **{leg: "no.such"})
    assert await talk.refused("transfers", **asked) == (404, "no_such_leg")


async def test_an_unknown_session_is_not_found(bench: Bench) -> None:
    """Asking, completing and canceling a session that is none: 404."""
    talk = await talking(bench)
    lost = f"/calls/{talk.call}/transfers/x"
    complete = {"completedByAgentId": "1001", "reason": "manual_complete"}
    cancel = {"cancelledByAgentId": "1001", "reason": "source_cancel"}
    missing = (404, "no_such_session")
    assert await bench.problem("GET", lost) == missing
    assert await bench.problem("POST", f"{lost}/complete", complete) == missing
    assert await bench.problem("POST", f"{lost}/cancel", cancel) == missing
