"""Phones that transfer by REFER, registered at another node than that of their call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.parties import TONES_HZ, Parties
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.until import until
from tests.live.cluster.phones_of_two_nodes import (
    AGENT,
    BOTH_WAYS,
    OTHER,
    dial,
    parties_at,
)
from tests.live.sessions.test_refer import refer_results

pytestmark = pytest.mark.usefixtures("unregistered_phones")

AGAIN_HZ = 1050


@BOTH_WAYS
async def test_a_refer_of_the_phone_is_a_blind_transfer(two: TwoNodes, home: int) -> None:
    """Its node passes it on to the call's node; the phone gets 200 at once, and leaves."""
    async with parties_at(two, home) as parties:
        agent = await parties.add_agent("source", AGENT, pbx=two.nodes[1 - home])
        await parties.call_in(await parties.lab.add_number(dial()))
        await parties.expect_audio(customer="source", source="customer")
        await parties.add_agent("target", OTHER, pbx=two.nodes[home])
        await _refer(agent, OTHER)
        await parties.expect_audio(customer="target", target="customer")
        [transfer] = (await parties.view())["transfers"]
        assert (transfer["transferMode"], transfer["state"]) == ("blind", "blind_transferred")
        assert (transfer["target"], transfer["sourceAgentId"]) == (f"agent:{OTHER}", AGENT)


async def test_a_refer_that_fails_calls_the_phone_again(two: TwoNodes) -> None:
    """The target has no phone: the customer gets the agent back."""
    async with parties_at(two, 0) as parties:
        agent = await parties.add_agent("source", AGENT, pbx=two.nodes[1])
        customer = await parties.call_in(await parties.lab.add_number(dial()))
        await parties.expect_audio(customer="source", source="customer")
        async with Phone.agent(two.nodes[1], AGENT, tone_hz=AGAIN_HZ) as again:
            await _refer(agent, "1009")
            await again.until_hears(TONES_HZ["customer"])
            await customer.until_hears(AGAIN_HZ)


async def test_a_refer_while_the_engine_is_away_calls_the_phone_again(two: TwoNodes) -> None:
    """No engine has taken it: the customer gets the agent back."""
    async with parties_at(two, 0) as parties:
        agent = await parties.add_agent("source", AGENT, pbx=two.nodes[1])
        customer = await parties.call_in(await parties.lab.add_number(dial()))
        await parties.expect_audio(customer="source", source="customer")
        await two.engine.kill()
        async with Phone.agent(two.nodes[1], AGENT, tone_hz=AGAIN_HZ) as again:
            await _refer(agent, OTHER)
            await parties.expect_audio(customer="ringing")
            await two.engine.start()
            await again.until_hears(TONES_HZ["customer"])
            await customer.until_hears(AGAIN_HZ)


@BOTH_WAYS
async def test_the_phone_connects_a_call_of_each_node(two: TwoNodes, home: int) -> None:
    """It holds its party, who came by the other node, calls a number, and connects both."""
    port = free_port()
    action = {"type": "dial", "data": {"number": f"sip:phone@127.0.0.1:{port}"}}
    async with second_call(two, home, action) as parties:
        target = await parties.add_phone("target", port=port)
        await parties.expect_audio(target="fourth", fourth="target")
        live = (await two.engine.rpc("GET", "/calls"))["calls"]
        [second] = [each["callId"] for each in live if each["callId"] != parties.call]
        await connect_calls(parties)
        await parties.expect_audio_for(1_000, {"customer": "target", "target": "customer"})
        shown = await two.engine.rpc("GET", f"/calls/{second}")
        assert AGENT not in [leg.get("agent_id") for leg in shown["legs"]]
        await target.hang_up()
        await parties["customer"].wait_ended()
        await parties.lab.wait_ended(parties.call)
        await parties.lab.wait_ended(second)


@asynccontextmanager
async def second_call(two: TwoNodes, home: int, action: object) -> AsyncIterator[Parties]:
    """Connect an agent's phone and a customer, who came by the other node; the phone calls again.

    `fourth` is its second call, to a number with this action.
    """
    own = two.nodes[1 - home]
    async with parties_at(two, home) as parties:
        agent = await parties.add_agent("source", AGENT, pbx=own)
        await parties.call_in(await parties.lab.add_number(dial()))
        await parties.expect_audio(customer="source", source="customer")
        await agent.hold()
        number = await two.lab(1 - home).add_number(action)
        async with Phone.calling(own, number, agent=AGENT, tone_hz=TONES_HZ["fourth"]) as line:
            parties.phones["fourth"] = line
            yield parties


async def connect_calls(parties: Parties) -> None:
    """Let the agent's phone connect its two calls, and leave them."""
    await parties["source"].refer_to_call("+15550100", parties["fourth"])
    await _leave(parties["source"])
    await parties["fourth"].wait_ended()


@BOTH_WAYS
async def test_the_phone_connects_its_party_to_one_that_rings(two: TwoNodes, home: int) -> None:
    """The customer hears ringing until the target answers."""
    port = free_port()
    action = {"type": "dial", "data": {"number": f"sip:phone@127.0.0.1:{port}"}}
    async with second_call(two, home, action) as parties:
        target = await parties.add_phone("target", picks_up=False, port=port)
        await target.wait_ringing()
        await connect_calls(parties)
        await parties.expect_audio(customer="ringing")
        await target.pick_up()
        await parties.expect_audio(customer="target", target="customer")
        await target.hang_up()
        await parties["customer"].wait_ended()


async def test_the_phone_connects_its_party_to_a_menu(two: TwoNodes) -> None:
    """The digits of the customer count."""
    data = {"maxDigits": 2, "timeout": 300_000, "digitTimeout": 300_000}
    question = {"type": "gather", "data": data, "action": None}
    async with second_call(two, 0, question) as parties:
        await parties["fourth"].wait_answered()
        live = (await two.engine.rpc("GET", "/calls"))["calls"]
        [second] = [each["callId"] for each in live if each["callId"] != parties.call]
        await connect_calls(parties)
        await parties["customer"].press("12")
        gathered = await two.engine.wait_for_event(second, "gathered")
        assert (gathered["dtmf"], gathered["reason"]) == ("12", "max-digits")
        await parties["customer"].wait_ended()


async def _refer(phone: Phone, extension: str) -> None:
    await phone.refer(f"<sip:{extension}@127.0.0.1>")
    await _leave(phone)


async def _leave(phone: Phone) -> None:
    """Hang up when REFER has succeeded, as phones do."""
    await until(lambda: refer_results(phone) == ["SIP/2.0 200 OK"], what="the result of REFER")
    await phone.hang_up()
