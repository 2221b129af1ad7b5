"""An account's agents over the RPC: stored, shown with presence, busy during a call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from engine.runtime.agents.registered_endpoints import RegisteredEndpoints
from tests.contract.rpc.harness.bench import CALL, Bench, end
from tests.contract.rpc.harness.conversation import talking
from tests.harness.until import until
from tests.unit.runtime.agents.test_registered_endpoints import Endpoints

AGENT = {"endpoint": "PJSIP/1002", "name": "Ada", "callerId": "+4721930000"}
SALES7 = "/agents/acme/sales7"


@asynccontextmanager
async def watched(bench: Bench, node: str, **states: str) -> AsyncIterator[RegisteredEndpoints]:
    """Let a node report endpoints by name, as `a1001="online"`."""
    pbx = Endpoints()
    pbx.states = {name.removeprefix("a"): state for name, state in states.items()}
    presence = RegisteredEndpoints(node, pbx, bench.agent_presence.directory.is_trunk)
    bench.agent_presence.registered_endpoints[node] = presence
    presence.on_connected()
    await until(lambda: presence.is_known, every_s=0.001)
    yield presence
    await presence.close()
    del bench.agent_presence.registered_endpoints[node]


async def view(bench: Bench, path: str = SALES7) -> dict[str, Any]:
    """Return the view of an agent."""
    status, found = await bench.request("GET", path)
    assert status == 200
    return dict(found)


async def test_a_call_to_an_unknown_agent_is_rejected(bench: Bench) -> None:
    """Of either party that is called; an offline agent exists, and so does one stored just now."""
    first = {"from": "agent:1001", "fromFirst": True}
    async with watched(bench, "pbx1", a1001="online", a1003="offline"):
        for more, field in (
            ({"to": "agent:nobody"}, "to"),
            ({**first, "to": "agent:nobody"}, "to"),
            ({**first, "from": "agent:nobody", "to": "+4722222222"}, "from"),
        ):
            status, problem = await bench.request("POST", "/calls", {**CALL, **more})
            (error,) = problem["errors"]
            assert (status, error["code"], error["path"]) == (400, "unknown_agent", field)
        for known in ("1001", "1003"):
            await bench.start_call(to=f"agent:{known}")
        stored = {"endpoint": "PJSIP/nobody"}  # what the template says, and no node has it yet
        assert (await bench.request("PUT", "/agents/acme/nobody", stored))[0] == 200
        await bench.start_call(to="agent:nobody")


async def test_who_is_dialled_into_a_call_is_known(bench: Bench) -> None:
    """Dials and members are rejected like transfers are."""
    conversation = await talking(bench)
    member = {"requestedByAgentId": "1001", "targetAgentIds": ["nobody"]}
    async with watched(bench, "pbx1", a1001="online", a1002="online"):
        unknown = (400, "unknown_agent")
        assert await conversation.refused("dial", target="agent:nobody") == unknown
        assert await conversation.refused("conference/members", **member) == unknown
        await conversation.posted("dial", target="agent:1002")


async def test_agents_are_kept_by_account(bench: Bench) -> None:
    """An agent is stored, shown, listed and deleted within its account."""
    shown = {**AGENT, "agentId": "sales7", "presence": "unknown", "busy": False}
    assert await bench.request("PUT", SALES7, AGENT) == (200, shown)
    assert await view(bench) == shown
    assert await bench.request("GET", "/agents?account=acme") == (200, {"agents": [shown]})
    assert await bench.request("GET", "/agents?account=other") == (200, {"agents": []})
    assert await bench.problem("GET", "/agents/other/sales7") == (404, "not_found")
    assert (await bench.problem("GET", "/agents"))[0] == 400
    assert await bench.problem("DELETE", "/agents/other/sales7") == (404, "not_found")
    assert (await bench.request("DELETE", SALES7))[0] == 200
    assert await bench.problem("DELETE", SALES7) == (404, "not_found")
    assert await bench.problem("GET", SALES7) == (404, "not_found")


async def test_a_new_agent_is_known_at_once(bench: Bench) -> None:
    """Its first call may follow, although the account's agents were just looked up."""
    directory = bench.agent_presence.directory
    assert (await directory.agent_of("acme", "PJSIP/1001")).name == ""
    await bench.request("PUT", SALES7, AGENT)
    assert (await directory.agent_of("acme", "PJSIP/1002")).agent_id == "sales7"


async def test_an_agent_called_conference(bench: Bench) -> None:
    """An agent may have an id that is also a segment of other paths."""
    assert (await bench.request("PUT", "/agents/acme/conference", AGENT))[0] == 200
    assert (await view(bench, "/agents/acme/conference"))["agentId"] == "conference"


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
async def test_what_is_no_agent_is_refused(bench: Bench, body: object) -> None:
    """An endpoint must be a phone, not the trunk or another channel; fields are validated."""
    assert (await bench.problem("PUT", SALES7, body))[0] == 400
    assert (await bench.problem("PUT", "/agents/acme/a%2Fb", AGENT))[0] == 400


async def test_presence_is_shown_over_all_nodes(bench: Bench) -> None:
    """Online if any node reports it, otherwise unknown while a node is disconnected."""
    await bench.request("PUT", SALES7, AGENT)
    async with watched(bench, "pbx1", a1002="offline"):
        async with watched(bench, "pbx2", a1002="online") as second:
            found = await view(bench)
            assert (found["presence"], found["nodes"]) == ("online", ["pbx2"])
            second.on_disconnected("gone")
            assert (await view(bench))["presence"] == "unknown"
            assert "nodes" not in await view(bench)
        assert (await view(bench))["presence"] == "offline"


async def test_a_browser_that_was_never_online_is_offline(bench: Bench) -> None:
    """Nodes get its endpoint with its first credentials; that of a SIP phone may be misspelt."""
    await bench.request("PUT", SALES7, {**AGENT, "phone": "browser"})
    assert (await view(bench))["presence"] == "unknown"
    async with watched(bench, "pbx1", a1001="online") as node:
        assert (await view(bench))["presence"] == "offline"
        await bench.request("PUT", SALES7, AGENT)
        assert (await view(bench))["presence"] == "unknown"
        await bench.request("PUT", SALES7, {**AGENT, "phone": "browser"})
        node.on_disconnected("gone")
        assert (await view(bench))["presence"] == "unknown"


async def test_an_agent_without_a_document_is_shown(bench: Bench) -> None:
    """The template gives the endpoint, which a node must have; the trunk is no agent."""
    async with watched(bench, "pbx1", a1001="online", trunk="online"):
        found = await view(bench, "/agents/acme/1001")
        assert (found["endpoint"], found["presence"]) == ("PJSIP/1001", "online")
        assert await bench.problem("GET", "/agents/acme/1009") == (404, "not_found")
        assert await bench.problem("GET", "/agents/acme/trunk") == (404, "not_found")


async def test_an_agent_is_busy_in_a_call(bench: Bench) -> None:
    """An agent is busy from the call until its leg has ended, in its own account only."""
    await bench.request("PUT", SALES7, AGENT)
    await bench.request("PUT", "/agents/other/sales7", {**AGENT, "endpoint": "PJSIP/1003"})
    call = await bench.start_call(to="agent:sales7")
    found = await view(bench)
    assert (found["busy"], found["callId"]) == (True, call)
    assert not (await view(bench, "/agents/other/sales7"))["busy"]
    end(bench, call)
    assert not (await view(bench))["busy"]


async def test_an_extension_is_an_agent(bench: Bench) -> None:
    """A number that a phone dials is an agent if a node has its endpoint."""
    async with watched(bench, "pbx1", a1002="online"):
        assert bench.agent_presence.party_of("acme", "1002") == "agent:1002"
        assert bench.agent_presence.party_of("acme", "4712345678") == "4712345678"
        assert bench.agent_presence.party_of("acme", "") == ""
