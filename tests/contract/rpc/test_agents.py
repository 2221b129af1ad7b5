"""An account's agents over the RPC: stored, shown with presence, busy during a call."""

from typing import Any

import pytest

from tests.harness.rpc.conversation import talking
from tests.harness.rpc.preparation import watched
from tests.harness.rpc.scene import CALL, RpcScene, end

AGENT = {"endpoint": "PJSIP/1002", "name": "Ada", "callerId": "+4721930000"}
SALES7 = "/agents/acme/sales7"


async def view(scene: RpcScene, path: str = SALES7) -> dict[str, Any]:
    """Return the view of an agent."""
    status, found = await scene.request("GET", path)
    assert status == 200
    return dict(found)


async def test_a_call_to_an_unknown_agent_is_rejected(scene: RpcScene) -> None:
    """Of either party that is called; an offline agent exists, and so does one stored just now."""
    first = {"from": "agent:1001", "fromFirst": True}
    async with watched(scene, "pbx1", a1001="online", a1003="offline"):
        for more, field in (
            ({"to": "agent:nobody"}, "to"),
            ({**first, "to": "agent:nobody"}, "to"),
            ({**first, "from": "agent:nobody", "to": "+4722222222"}, "from"),
        ):
            status, problem = await scene.request("POST", "/calls", {**CALL, **more})
            (error,) = problem["errors"]
            assert (status, error["code"], error["path"]) == (400, "unknown_agent", field)
        for known in ("1001", "1003"):
            await scene.start_call(to=f"agent:{known}")
        stored = {"endpoint": "PJSIP/nobody"}  # what the template says, and no node has it yet
        await scene.documents.agent("acme", "nobody", stored)
        await scene.start_call(to="agent:nobody")


async def test_who_is_dialled_into_a_call_is_known(scene: RpcScene) -> None:
    """Dials and members are rejected like transfers are."""
    conversation = await talking(scene)
    member = {"requestedByAgentId": "1001", "targetAgentIds": ["nobody"]}
    async with watched(scene, "pbx1", a1001="online", a1002="online"):
        unknown = (400, "unknown_agent")
        assert await conversation.refused("dial", target="agent:nobody") == unknown
        assert await conversation.refused("conference/members", **member) == unknown
        await conversation.posted("dial", target="agent:1002")


async def test_agents_are_kept_by_account(scene: RpcScene) -> None:
    """An agent is stored, shown, listed and deleted within its account."""
    shown = {**AGENT, "agentId": "sales7", "presence": "unknown", "busy": False}
    await scene.documents.agent("acme", "sales7", AGENT)
    assert await view(scene) == shown
    assert await scene.request("GET", "/agents?account=acme") == (200, {"agents": [shown]})
    assert await scene.request("GET", "/agents?account=other") == (200, {"agents": []})
    assert await scene.problem("GET", "/agents/other/sales7") == (404, "not_found")
    assert (await scene.problem("GET", "/agents"))[0] == 400
    await scene.documents.delete("other", "agent", "sales7")
    assert await view(scene) == shown
    await scene.documents.delete("acme", "agent", "sales7")
    assert await scene.problem("GET", SALES7) == (404, "not_found")


async def test_a_new_agent_is_known_at_once(scene: RpcScene) -> None:
    """Its first call may follow, although the account's agents were just looked up."""
    directory = scene.agent_presence.directory
    assert (await directory.agent_of("acme", "PJSIP/1001")).name == ""
    await scene.documents.agent("acme", "sales7", AGENT)
    assert (await directory.agent_of("acme", "PJSIP/1002")).agent_id == "sales7"


async def test_an_agent_called_conference(scene: RpcScene) -> None:
    """An agent may have an id that is also a segment of other paths."""
    await scene.documents.agent("acme", "conference", AGENT)
    assert (await view(scene, "/agents/acme/conference"))["agentId"] == "conference"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"endpoint": "PJSIP/trunk"},
        {"endpoint": "PJSIP/Trunk"},
        {"endpoint": "PJSIP/+4790000000@trunk"},
        {"endpoint": "Local/1@from-trunk"},
        {"endpoint": "PJSIP/1002", "callerId": "Ada <1>"},
        {"endpoint": "PJSIP/1002", "name": "Ada\r\nP-Asserted-Identity: <sip:1@x>"},
        {"endpoint": "PJSIP/1002", "name": "Ada\x00"},
        {"endpoint": "PJSIP/1002", "phone": "red"},
    ],
)
async def test_what_is_no_agent_is_refused(scene: RpcScene, body: object) -> None:
    """An endpoint must be a phone, not the trunk or another channel; fields are validated."""
    assert (await scene.problem("POST", f"{SALES7}/check", body))[0] == 400
    assert (await scene.problem("POST", "/agents/acme/a%2Fb/check", AGENT))[0] == 400


async def test_presence_is_shown_over_all_nodes(scene: RpcScene) -> None:
    """Online if any node reports it, otherwise unknown while a node is disconnected."""
    await scene.documents.agent("acme", "sales7", AGENT)
    async with watched(scene, "pbx1", a1002="offline"):
        async with watched(scene, "pbx2", a1002="online") as second:
            found = await view(scene)
            assert (found["presence"], found["nodes"]) == ("online", ["pbx2"])
            second.on_disconnected("gone", 0)
            assert (await view(scene))["presence"] == "unknown"
            assert "nodes" not in await view(scene)
        assert (await view(scene))["presence"] == "offline"


async def test_a_browser_that_was_never_online_is_offline(scene: RpcScene) -> None:
    """Nodes get its endpoint with its first credentials; that of a SIP phone may be misspelt."""
    await scene.documents.agent("acme", "sales7", {**AGENT, "phone": "browser"})
    assert (await view(scene))["presence"] == "unknown"
    async with watched(scene, "pbx1", a1001="online") as node:
        assert (await view(scene))["presence"] == "offline"
        await scene.documents.agent("acme", "sales7", AGENT)
        assert (await view(scene))["presence"] == "unknown"
        await scene.documents.agent("acme", "sales7", {**AGENT, "phone": "browser"})
        node.on_disconnected("gone", 0)
        assert (await view(scene))["presence"] == "unknown"


async def test_an_agent_without_a_document_is_shown(scene: RpcScene) -> None:
    """The template gives the endpoint, which a node must have; the trunk is no agent."""
    async with watched(scene, "pbx1", a1001="online", trunk="online"):
        found = await view(scene, "/agents/acme/1001")
        assert (found["endpoint"], found["presence"]) == ("PJSIP/1001", "online")
        assert await scene.problem("GET", "/agents/acme/1009") == (404, "not_found")
        assert await scene.problem("GET", "/agents/acme/trunk") == (404, "not_found")


async def test_an_agent_is_busy_in_a_call(scene: RpcScene) -> None:
    """An agent is busy from the call until its leg has ended, in its own account only."""
    await scene.documents.agent("acme", "sales7", AGENT)
    await scene.documents.agent("other", "sales7", {**AGENT, "endpoint": "PJSIP/1003"})
    call = await scene.start_call(to="agent:sales7")
    found = await view(scene)
    assert (found["busy"], found["callId"]) == (True, call)
    assert not (await view(scene, "/agents/other/sales7"))["busy"]
    end(scene, call)
    assert not (await view(scene))["busy"]


async def test_an_extension_is_an_agent(scene: RpcScene) -> None:
    """A number that a phone dials is an agent if a node has its endpoint."""
    async with watched(scene, "pbx1", a1002="online"):
        assert scene.agent_presence.party_of("acme", "1002") == "agent:1002"
        assert scene.agent_presence.party_of("acme", "4712345678") == "4712345678"
        assert scene.agent_presence.party_of("acme", "") == ""
