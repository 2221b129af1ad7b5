"""Sessions with agents at registered phones, addressed by agent id and checked by tone."""

import pytest

from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, Transfer, all_hear_all
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

BOB = "1003"


@pytest.fixture
async def talk(parties: Parties) -> Parties:
    """Connect customer and source; agent 1003 is registered."""
    await parties.connect()
    await parties.add_agent("target", BOB)

    async def is_online() -> bool:
        agent = await parties.lab.engine.rpc("GET", f"/agents/acme/{BOB}")
        return bool(agent["presence"] == "online")

    await until(is_online, what="the agent to be online")
    return parties


@pytest.mark.parametrize("mode", ["attended", "blind"])
async def test_a_transfer_to_an_agent(talk: Parties, mode: str) -> None:
    """The agent's phone is called, and the session names the agent."""
    transfer = Transfer(talk)
    target = {"kind": "agent", "agentId": BOB, "agentName": "Bob"}
    view = await transfer.start(mode, target=target, sourceAgentId="ada")
    assert (view["target"], view["targetName"]) == (f"agent:{BOB}", "Bob")
    if mode == "attended":
        await talk.expect_audio(source="target", target="source", customer="music")
        await transfer.complete()
    await talk.expect_audio(customer="target", target="customer")
    agent = await talk.lab.engine.rpc("GET", f"/agents/acme/{BOB}")
    assert (agent["busy"], agent["callId"]) == (True, talk.call)


async def test_a_conference_with_an_agent(talk: Parties) -> None:
    """The agent is a member and finds the conference; after a kick it has none."""
    conference = Conference(talk)
    await conference.add(
        "target", targetExternalNumber=None, targetAgentIds=[BOB], targetAgentNames={BOB: "Bob"}
    )
    await talk.expect_audio(**all_hear_all("customer", "source", "target"))
    found = await talk.lab.engine.rpc("GET", f"/agents/acme/{BOB}/conference")
    assert found["conferenceSessionId"] == conference.id
    assert [each.get("name") for each in found["members"]] == [None, None, "Bob"]
    await conference.request("kick", requesterAgentId="ada", targetAgentId=BOB)
    await talk["target"].wait_ended()
    await talk.expect_audio(customer="source", source="customer")
    with pytest.raises(RequestError) as refused:
        await talk.lab.engine.rpc("GET", f"/agents/acme/{BOB}/conference")
    assert refused.value.problem["code"] == "no_such_session"


async def test_hangup_by_agent_id_ends_the_leg_of_the_agent(talk: Parties) -> None:
    """A hangup by agent id ends only the leg of the agent."""
    await talk.control("dial", target=f"agent:{BOB}")
    await talk.expect_audio(**all_hear_all("customer", "source", "target"))
    await talk.control("hangup", agentId=BOB)
    await talk["target"].wait_ended()
    await talk.expect_audio(customer="source", source="customer")
